use proptest::prelude::*;

use super::*;

fn template(text: &str) -> UriTemplate {
    UriTemplate::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn known() -> Variables {
    Variables::new()
        .with("count", ["one", "two", "three"])
        .with("dom", ["example", "com"])
        .with("dub", "me/too")
        .with("hello", "Hello World!")
        .with("half", "50%")
        .with("var", "value")
        .with("who", "fred")
        .with("base", "http://example.com/home/")
        .with("path", "/foo/bar")
        .with("list", ["red", "green", "blue"])
        .with("keys", pairs(&[("semi", ";"), ("dot", "."), ("comma", ",")]))
        .with("v", "6")
        .with("x", "1024")
        .with("y", "768")
        .with("empty", "")
        .with("empty_keys", Vec::<(String, String)>::new())
}

fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

/// The examples of RFC 6570, section 3.2, that no expression makes ambiguous.
#[test]
fn expansions_of_the_specification() {
    for (text, expanded) in [
        ("{count}", "one,two,three"),
        ("{count*}", "one,two,three"),
        ("{/count}", "/one,two,three"),
        ("{/count*}", "/one/two/three"),
        ("{;count}", ";count=one,two,three"),
        ("{;count*}", ";count=one;count=two;count=three"),
        ("{?count}", "?count=one,two,three"),
        ("{?count*}", "?count=one&count=two&count=three"),
        ("{&count*}", "&count=one&count=two&count=three"),
        ("{var}", "value"),
        ("{hello}", "Hello%20World%21"),
        ("{half}", "50%25"),
        ("O{empty}X", "OX"),
        ("O{undef}X", "OX"),
        ("{x,y}", "1024,768"),
        ("{x,hello,y}", "1024,Hello%20World%21,768"),
        ("?{x,empty}", "?1024,"),
        ("?{x,undef}", "?1024"),
        ("?{undef,y}", "?768"),
        ("{var:3}", "val"),
        ("{var:30}", "value"),
        ("{list}", "red,green,blue"),
        ("{keys}", "semi,%3B,dot,.,comma,%2C"),
        ("{keys*}", "semi=%3B,dot=.,comma=%2C"),
        ("{+var}", "value"),
        ("{+hello}", "Hello%20World!"),
        ("{+half}", "50%25"),
        ("{base}index", "http%3A%2F%2Fexample.com%2Fhome%2Findex"),
        ("{+base}index", "http://example.com/home/index"),
        ("O{+empty}X", "OX"),
        ("{+path}/here", "/foo/bar/here"),
        ("here?ref={+path}", "here?ref=/foo/bar"),
        ("{+x,hello,y}", "1024,Hello%20World!,768"),
        ("{+path,x}/here", "/foo/bar,1024/here"),
        ("{+path:6}/here", "/foo/b/here"),
        ("{+keys}", "semi,;,dot,.,comma,,"),
        ("{+keys*}", "semi=;,dot=.,comma=,"),
        ("{#var}", "#value"),
        ("foo{#empty}", "foo#"),
        ("foo{#undef}", "foo"),
        ("{#x,hello,y}", "#1024,Hello%20World!,768"),
        ("{#path:6}here", "#/foo/bhere"),
        ("{.who}", ".fred"),
        ("{.who,who}", ".fred.fred"),
        ("{.half,who}", ".50%25.fred"),
        ("www{.dom*}", "www.example.com"),
        ("X{.var:3}", "X.val"),
        ("X{.empty}", "X."),
        ("X{.keys*}", "X.semi=%3B.dot=..comma=%2C"),
        ("X{.empty_keys*}", "X"),
        ("{/who}", "/fred"),
        ("{/half,who}", "/50%25/fred"),
        ("{/who,dub}", "/fred/me%2Ftoo"),
        ("{/var,empty}", "/value/"),
        ("{/var,undef}", "/value"),
        ("{/var,x}/here", "/value/1024/here"),
        ("{/var:1,var}", "/v/value"),
        ("{/list*,path:4}", ""),
        ("{/keys*}", "/semi=%3B/dot=./comma=%2C"),
        ("{;who}", ";who=fred"),
        ("{;empty}", ";empty"),
        ("{;v,empty,who}", ";v=6;empty;who=fred"),
        ("{;v,undef,who}", ";v=6;who=fred"),
        ("{;hello:5}", ";hello=Hello"),
        ("{;keys*}", ";semi=%3B;dot=.;comma=%2C"),
        ("{?who}", "?who=fred"),
        ("{?x,y,empty}", "?x=1024&y=768&empty="),
        ("{?x,y,undef}", "?x=1024&y=768"),
        ("{?var:3}", "?var=val"),
        ("{?keys}", "?keys=semi,%3B,dot,.,comma,%2C"),
        ("{?keys*}", "?semi=%3B&dot=.&comma=%2C"),
        ("?fixed=yes{&x}", "?fixed=yes&x=1024"),
        ("{&var:3}", "&var=val"),
    ] {
        if expanded.is_empty() {
            assert!(UriTemplate::parse(text).is_err(), "{text}");
        } else {
            assert_eq!(template(text).expand(&known()), expanded, "{text}");
        }
    }
}

#[test]
fn texts_that_are_no_templates() {
    for (text, part) in [
        ("a{", "not closed"),
        ("a{b", "not closed"),
        ("a}b", "percent-encode"),
        ("a b", "percent-encode"),
        ("a\nb", "percent-encode"),
        ("a%zz", "%25"),
        ("a%2", "%25"),
        ("{}", "proper name"),
        ("{a,}", "proper name"),
        ("{a b}", "proper name"),
        ("{é}", "proper name"),
        ("{.}", "proper name"),
        ("{a..b}", "proper name"),
        ("{a.}", "proper name"),
        ("{%4}", "proper name"),
        ("{{a}}", "proper name"),
        ("{a-b}", "proper name"),
        ("{=a}", "only reserves"),
        ("{|a}", "only reserves"),
        ("{a:}", "1 to 9999"),
        ("{a:0}", "1 to 9999"),
        ("{a:12345}", "1 to 9999"),
        ("{a:+1}", "1 to 9999"),
        ("{a:x}", "1 to 9999"),
        ("{a}{b}", "put a literal between"),
        ("{/a}{b}", "put a literal between"),
        ("{?a}{+b}", "put a literal between"),
        ("{+a}{/b}", "put a literal between"),
        ("{+a}{.b}", "put a literal between"),
        ("{a*,b}", "make it the last"),
        ("{?a*,b*}", "make it the last"),
        ("{?a*}{&b*}", "make it the last"),
    ] {
        let error = UriTemplate::parse(text).expect_err(text).to_string();
        assert!(error.contains(part), "{text}: {error}");
    }
    for text in ["", "a", "{a}", "{a.b_c%20}", "{a:9999}", "{?a*,b}", "a%20b", "http://é/{a}"] {
        assert_eq!(template(text).as_str(), text);
    }
}

#[track_caller]
fn found(text: &str, uri: &str) -> Option<String> {
    let variables = template(text).matches(uri)?;
    let shown = variables.iter().map(|(name, value)| match value {
        Variable::Text(text) => format!("{name}={text}"),
        Variable::List(list) => format!("{name}={list:?}"),
        Variable::Map(map) => format!("{name}={map:?}"),
    });
    Some(shown.collect::<Vec<_>>().join(" "))
}

#[test]
fn uris_that_fit() {
    for (text, uri, expected) in [
        ("", "", ""),
        ("test://a", "test://a", ""),
        ("test://template/{id}/data", "test://template/123/data", "id=123"),
        ("a/{x}", "a/b:c@d;e=f,g", "x=b:c@d;e=f,g"),
        ("a/{x}", "a/%E2%82%AC%2F..", "x=€/.."),
        ("a/{x}", "a/世 界", "x=世 界"),
        ("{x}.{y}", "a.tar.gz", "x=a.tar y=gz"),
        ("{x}-{x}", "a-a", "x=a"),
        ("{x:1}/{x}", "v/value", "x=value"),
        ("{x:2}", "é世", "x=é世"),
        ("f:///{+path}", "f:///a/b?c#d", "path=a/b?c#d"),
        ("{+path}/{name}", "a/b/c", "path=a/b name=c"),
        ("{+a}x{b}", "1x/2x3", "a=1x/2 b=3"),
        ("{+path}{?q}", "a/b?q=1", "path=a/b q=1"),
        ("{+path}{#f}", "a/b#c", "path=a/b f=c"),
        ("{+path}{#f}", "a/b", "path=a/b"),
        ("{x}{.ext}", "a.b", "x=a ext=b"),
        ("{x}{.ext}", "a", "x=a"),
        ("x{/a}{/b}", "x/1/2", "a=1 b=2"),
        ("x{/a}{/b}", "x/1", "a=1"),
        ("x{/a}/edit", "x/1/edit", "a=1"),
        ("x{/a}/edit", "x/edit", ""),
        ("x{/a}", "x/", "a="),
        ("x{/p*}", "x/1/2/", r#"p=["1", "2", ""]"#),
        ("x{/p*}", "x/a=1/b=2", r#"p=[("a", "1"), ("b", "2")]"#),
        ("x{/p*}", "x/a=1/b", r#"p=["a=1", "b"]"#),
        ("{x,y}", "1,2", "x=1 y=2"),
        ("{x,y}", "1", "x=1"),
        ("{x,y*}", "1,2,3", r#"x=1 y=["2", "3"]"#),
        ("x{;a,b}", "x;b=2;a", "b=2 a="),
        ("x{?a,b}", "x?b=2&a=1", "b=2 a=1"),
        ("x{?a,b}", "x?a=http://y/?z=1,2", "a=http://y/?z=1,2"),
        ("x{?a}{&b}", "x?b=2", "b=2"),
        ("x{?a,b}", "x", ""),
        ("x?f=1{&a}", "x?f=1&a=", "a="),
        ("x{?l*}", "x?l=1&l=2", r#"l=["1", "2"]"#),
        ("x{?a,m*}", "x?c=1&a=2&b=", r#"a=2 m=[("c", "1"), ("b", "")]"#),
        ("http://%C3%A9/{x}", "http://%C3%A9/1", "x=1"),
        ("é{x}", "%C3%A91", "x=1"),
    ] {
        assert_eq!(found(text, uri).as_deref(), Some(expected), "{text} {uri}");
    }
}

#[test]
fn uris_that_do_not_fit() {
    for (text, uri) in [
        ("", "a"),
        ("a", ""),
        ("test://a", "test://A"),
        ("test://template/{id}/data", "test://template//data"),
        ("test://template/{id}/data", "test://template/1/2/data"),
        ("test://template/{id}/data", "test://template/1/data/"),
        ("a/{x}", "a/"),
        ("a/{+x}", "a/"),
        ("a/{x}", "a/{x}"),
        ("a/{+x}", "a/{+x}"),
        ("a/{x}", "a/b?c"),
        ("a/{x}", "a/b#c"),
        ("a/{x}", "a/b\u{0}"),
        ("a/{x}", "a/b\r\nc"),
        ("a/{+x}", "a/\u{7f}"),
        ("a/{x}", "a/%"),
        ("a/{x}", "a/%4"),
        ("a/{x}", "a/%zz"),
        ("a/{x}", "a/%ff"),
        ("{x}2F", "a%2F"),
        ("%2F{x}", "%252F"),
        ("{x}-{x}", "a-b"),
        ("{x:1}/{x}", "w/value"),
        ("{x:1}", "ab"),
        ("x{/a}", "x/1/2"),
        ("x{/a}/edit", "x/1/2/edit"),
        ("{x,y}", "1,2,3"),
        ("x{?a}", "x?"),
        ("x{?a}", "x?b=1"),
        ("x{?a}", "x?a=1&a=2"),
        ("x{?a}", "x?a=1&"),
        ("x{?a}", "x&a=1"),
        ("x{?l*}", "x?l=1&m=2"),
        ("x{?a,b*}", "x?a=1&a=2"),
        ("é{x}", "é1"),
    ] {
        assert_eq!(found(text, uri), None, "{text} {uri}");
    }
}

/// A search that went back and forth would not end.
#[test]
fn hostile_uris_take_no_time() {
    let nested = template("{+a}x{+b}x{+c}x{+d}x{+e}x{+f}x{+g}y");
    let uri = "x".repeat(100_000);
    let began = std::time::Instant::now();
    assert_eq!(nested.matches(&uri), None);
    let named = template("x{?a,b,c*}");
    let uri = format!("x?{}", "a&".repeat(50_000));
    assert_eq!(named.matches(&uri), None);
    let uri = format!("x?{}", "z&".repeat(50_000));
    assert!(named.matches(&uri).is_some());
    assert!(began.elapsed().as_secs() < 20, "{:?}", began.elapsed());
}

/// Templates of one variable of each kind, for which any value comes back.
const SINGLE: [&str; 9] =
    ["a/{x}", "{x}/b", "{+x}", "a{#x}", "a{.x}", "a{/x}/b", "a{;x}", "a{?x}", "a?b{&x}"];
const EXPLODED: [&str; 7] = ["a/{x*}", "a/{+x*}", "a{.x*}", "a{/x*}", "a{;x*}", "a{?x*}", "a{?y}{&x*}"];

proptest! {
    #[test]
    fn a_text_comes_back(value in "\\PC{1,20}") {
        for text in SINGLE {
            // What is encoded already stays as it is where reserved characters do.
            if text.contains(['+', '#']) && value.contains('%') {
                continue;
            }
            let (template, variables) = (template(text), Variables::new().with("x", value.as_str()));
            let uri = template.expand(&variables);
            prop_assert_eq!(template.matches(&uri), Some(variables), "{} {}", text, uri);
        }
    }

    #[test]
    fn lists_come_back(list in prop::collection::vec("[^%=,\\p{C}/.+]{1,8}", 1..5)) {
        for text in EXPLODED {
            let (template, variables) = (template(text), Variables::new().with("x", list.clone()));
            let uri = template.expand(&variables);
            prop_assert_eq!(template.matches(&uri), Some(variables), "{} {}", text, uri);
        }
    }

    #[test]
    fn maps_come_back(map in prop::collection::btree_map("[b-w]{1,5}", "[^%=,\\p{C}/.+]{0,8}", 1..5)) {
        let map: Vec<_> = map.into_iter().collect();
        for text in EXPLODED {
            let (template, variables) = (template(text), Variables::new().with("x", map.clone()));
            let uri = template.expand(&variables);
            prop_assert_eq!(template.matches(&uri), Some(variables), "{} {}", text, uri);
        }
    }

    #[test]
    fn several_come_back(
        a in "[a-z0-9%/ é]{1,6}",
        b in prop::option::of("[a-z=&; é]{0,6}"),
        c in prop::option::of("[a-z?/&]{0,6}"),
    ) {
        for text in ["s://{a}{/b}{?c}", "s://{a}{;b}{?c}{#d}", "{a}:{?b,c}", "{a}{?b}{&c}"] {
            let mut variables = Variables::new().with("a", a.as_str());
            for (name, value) in [("b", &b), ("c", &c)] {
                if let Some(value) = value {
                    variables = variables.with(name, value.as_str());
                }
            }
            let template = template(text);
            let uri = template.expand(&variables);
            prop_assert_eq!(template.matches(&uri), Some(variables), "{} {}", text, uri);
        }
    }

    #[test]
    fn nothing_panics(text in "[a{}+#./;?&*:,%0-9é=]{0,24}", uri in "[a%0-9é=/?#&.;,+\\x00]{0,40}") {
        if let Ok(template) = UriTemplate::parse(&text)
            && let Some(variables) = template.matches(&uri)
        {
            let again = template.expand(&variables);
            prop_assert_eq!(template.matches(&again), Some(variables), "{} {} {}", text, uri, again);
        }
    }
}
