//! Resources and their templates: listed, read, not found, and what a read may do besides.

use std::time::Duration;

use serde_json::{Value, json};
use twolane::server::Builder;
use twolane::tools::{
    CacheScope, Contents, Context, HandlerError, Icon, ProtocolError, ReadResult, Resource, ResourceTemplate,
    Role, Variables,
};

use crate::support::party::Party;
use crate::support::{Response, Server, messages};

fn full() -> Resource {
    Resource::text("test://full", "full", "é\u{2028}text")
        .title("Full")
        .description("Has everything.")
        .mime_type("text/plain")
        .audience([Role::User])
        .priority(0.5)
        .last_modified("2025-01-01T00:00:00Z")
        .icon(Icon::new("data:,"))
        .meta("example/k", 1)
}

fn fixed(builder: Builder) -> Builder {
    builder
        .resource(full())
        .resource(Resource::blob("test://bytes", "bytes", [0, 255]).mime_type("image/png"))
        .resource(Resource::blocking("test://several", "several", || {
            [
                Contents::text("one").uri("test://several/1").mime_type("text/markdown").meta("k", 1),
                Contents::blob([1]).uri("test://several/2"),
                Contents::text("itself"),
            ]
        }))
        .resource(Resource::new("test://empty", "empty", || async { Vec::<Contents>::new() }))
        .resource(Resource::new("test://asks", "asks", |context: Context| async move {
            context.revision().as_str().to_owned()
        }))
}

fn failing(builder: Builder) -> Builder {
    builder
        .resource(Resource::new("test://fails", "fails", || async {
            Err::<&str, HandlerError>(std::io::Error::other("a secret").into())
        }))
        .resource(Resource::new("test://chooses", "chooses", || async {
            Err::<&str, HandlerError>(ProtocolError::new(-32050, "busy").data(json!({"in": 5})).into())
        }))
        .resource(Resource::new("test://gone", "gone", || async {
            Err::<&str, _>(HandlerError::not_found())
        }))
        // Without the panic hook, which would write into the tests' output.
        .resource(Resource::new("test://panics", "panics", || async {
            std::panic::resume_unwind(Box::new("a secret")) as &str
        }))
        .resource(Resource::new("test://panics-at-once", "panics-at-once", || {
            std::panic::resume_unwind(Box::new("a secret")) as std::future::Ready<&str>
        }))
        .resource(Resource::blocking("test://panics-blocking", "panics-blocking", || {
            std::panic::resume_unwind(Box::new("a secret")) as &str
        }))
        .resource(
            Resource::new("test://slow", "slow", || async {
                tokio::time::sleep(Duration::from_secs(600)).await;
                "never"
            })
            .timeout(Duration::from_millis(20)),
        )
}

fn templates(builder: Builder) -> Builder {
    builder
        .resource_template(
            ResourceTemplate::new("test://template/{id}/data", "data", |variables: Variables| async move {
                match variables.get("id") {
                    Some("none") => Err(HandlerError::not_found()),
                    id => Ok(json!({ "id": id }).to_string()),
                }
            })
            .title("Data")
            .description("By id.")
            .mime_type("application/json")
            .icon(Icon::new("data:,"))
            .meta("example/k", 2),
        )
        .resource_template(ResourceTemplate::blocking(
            "test://files/{+path}{?from,lines}",
            "files",
            |variables: Variables, context: Context| {
                let path = variables.get("path").unwrap_or_default();
                let from = variables.get("from").unwrap_or("start");
                Contents::text(format!("{path} from {from} by {}", context.client_name().unwrap_or("nobody")))
            },
        ))
        .resource_template(ResourceTemplate::new("test://{kind}/x/data", "shadowed", |_| async {
            "shadowed"
        }))
}

fn server() -> Server {
    Server::with(|builder| templates(failing(fixed(builder))))
}

fn all(server: &Server) -> Vec<Party> {
    Party::all(server, &json!({}))
}

#[track_caller]
fn read(server: &Server, party: &Party, uri: &str) -> Response {
    party.send(server, &party.request(7, "resources/read", json!({ "uri": uri })))
}

/// The code, message and data of a JSON-RPC error that is no rejection.
#[track_caller]
fn failure(response: &Response) -> (i64, String, Value) {
    assert_eq!((response.status, &response.json()["id"]), (200, &json!(7)), "{response}");
    let mut error = response.json()["error"].take();
    (response.code(), error["message"].as_str().unwrap().to_owned(), error["data"].take())
}

#[test]
fn contents_of_every_kind() {
    let server = server();
    for party in all(&server) {
        let contents = |uri: &str| read(&server, &party, uri).result()["contents"].take();
        assert_eq!(
            contents("test://full"),
            json!([{"uri": "test://full", "mimeType": "text/plain", "text": "é\u{2028}text"}])
        );
        assert_eq!(
            contents("test://bytes"),
            json!([{"uri": "test://bytes", "mimeType": "image/png", "blob": "AP8="}])
        );
        let mut first = json!({"uri": "test://several/1", "mimeType": "text/markdown", "text": "one"});
        if party.version != "2025-03-26" {
            first["_meta"] = json!({"k": 1});
        }
        assert_eq!(
            contents("test://several"),
            json!([first, {"uri": "test://several/2", "blob": "AQ=="}, {"uri": "test://several", "text": "itself"}])
        );
        assert_eq!(contents("test://empty"), json!([]));
        assert_eq!(contents("test://asks"), json!([{"uri": "test://asks", "text": party.version}]));
    }
}

#[test]
fn templates_by_what_they_make() {
    let server = server();
    for party in all(&server) {
        let contents = |uri: &str| read(&server, &party, uri).result()["contents"].take();
        for id in ["123", "a:b", "%C3%A9", "a%2Fb", "x"] {
            let uri = format!("test://template/{id}/data");
            let text = json!({"id": id.replace("%C3%A9", "é").replace("%2F", "/")}).to_string();
            assert_eq!(
                contents(&uri),
                json!([{"uri": uri, "mimeType": "application/json", "text": text}]),
                "the first template serves it"
            );
        }
        let files = contents("test://files/a/b.txt?lines=3&from=7");
        assert_eq!(
            files,
            json!([{"uri": "test://files/a/b.txt?lines=3&from=7", "text": "a/b.txt from 7 by wire"}])
        );
        assert_eq!(contents("test://other/x/data")[0]["text"], "shadowed");
    }
}

#[test]
fn what_is_not_there() {
    let server = server();
    for party in all(&server) {
        let code = if party.session.is_some() { -32002 } else { -32602 };
        for uri in [
            "test://nonexistent",
            "test://FULL",
            "test://full/",
            "test://full#part",
            "",
            "no uri at all",
            "test://template//data",
            "test://template/none/data",
            "test://template/%ff/data",
            "test://gone",
        ] {
            let (given, message, data) = failure(&read(&server, &party, uri));
            assert_eq!((given, data), (code, json!({"uri": uri})), "{uri}: {message}");
        }
    }
}

#[test]
fn reads_that_fail() {
    let server = server();
    for party in all(&server) {
        for uri in ["fails", "panics", "panics-at-once", "panics-blocking", "slow"] {
            let (code, message, data) = failure(&read(&server, &party, &format!("test://{uri}")));
            assert_eq!((code, data), (-32603, Value::Null), "{uri}: {message}");
            assert!(message.contains(uri) && !message.contains("secret"), "{message}");
        }
        let (code, message, data) = failure(&read(&server, &party, "test://chooses"));
        assert_eq!((code, message.as_str(), data), (-32050, "busy", json!({"in": 5})));
        // Whatever happened, the next read is answered.
        assert_eq!(read(&server, &party, "test://empty").result()["contents"], json!([]));
    }
}

#[test]
fn params_that_do_not_fit() {
    let server = server();
    for party in all(&server) {
        for params in [json!({}), json!({"uri": 1}), json!({"uri": null}), json!({"uri": ["test://full"]})] {
            let mut request = party.request(7, "resources/read", params.clone());
            if party.session.is_none() {
                request = request.without("Mcp-Name");
            }
            let response = party.send(&server, &request);
            assert_eq!((response.status, response.code()), (200, -32602), "{params}: {response}");
            assert!(response.text().contains("uri"), "{response}");
        }
    }
}

/// The bound is on what templates are held against: a resource of that very URI is found whatever its length.
#[test]
fn uris_as_long_as_they_may_be() {
    let long = |length: usize| format!("test://files/{}", "x".repeat(length - 13));
    let server = Server::with(|builder| {
        let limits = crate::limits::changed(&[("resource_uri", 100)]);
        templates(builder).limits(limits).resource(Resource::text(long(200), "long", "found"))
    });
    for party in all(&server) {
        for length in [99, 100] {
            assert!(read(&server, &party, &long(length)).result()["contents"].is_array());
        }
        let (code, message, _) = failure(&read(&server, &party, &long(101)));
        assert!(code == -32602 && message.contains("100 bytes"), "{message}");
        assert_eq!(read(&server, &party, &long(200)).result()["contents"][0]["text"], "found");
    }
}

/// Every member of a listed resource, and of a listed template, by revision.
#[test]
fn each_revision_lists_its_members() {
    let server = server();
    for party in all(&server) {
        let list = |method, member: &str| {
            let result = party.send(&server, &party.request(7, method, Value::Null)).result();
            (result[member][0].clone(), result)
        };
        let (resource, result) = list("resources/list", "resources");
        let mut expected = json!({
            "uri": "test://full", "name": "full", "description": "Has everything.", "mimeType": "text/plain",
            "size": 9, "annotations": {"audience": ["user"], "priority": 0.5},
        });
        let (template, templates) = list("resources/templates/list", "resourceTemplates");
        let mut expected_template = json!({
            "uriTemplate": "test://template/{id}/data", "name": "data", "description": "By id.",
            "mimeType": "application/json",
        });
        if party.version != "2025-03-26" {
            expected["title"] = json!("Full");
            expected["annotations"]["lastModified"] = json!("2025-01-01T00:00:00Z");
            expected["_meta"] = json!({"example/k": 1});
            expected_template["title"] = json!("Data");
            expected_template["_meta"] = json!({"example/k": 2});
        }
        if party.version >= "2025-11-25" {
            expected["icons"] = json!([{"src": "data:,"}]);
            expected_template["icons"] = json!([{"src": "data:,"}]);
        }
        assert_eq!(resource, expected, "{}", party.version);
        assert_eq!(template, expected_template, "{}", party.version);
        let modern = party.version == messages::MODERN;
        for result in [&result, &templates] {
            let members = result.as_object().unwrap().len();
            assert_eq!(members, if modern { 5 } else { 1 }, "{result}");
        }
    }
}

#[test]
fn how_long_what_was_read_stays_fresh() {
    let server = Server::with(|builder| {
        builder
            .cache_ttl_ms(1234)
            .resource(Resource::text("test://plain", "plain", "x"))
            .resource(
                Resource::text("test://own", "own", "x").cache_ttl_ms(0).cache_scope(CacheScope::Private),
            )
            .resource(Resource::new("test://result", "result", || async {
                ReadResult::new([Contents::text("x")])
                    .cache_ttl_ms(7)
                    .meta("k", 1)
                    .meta("io.modelcontextprotocol/serverInfo", "forged")
            }))
    });
    for party in all(&server) {
        for (uri, ttl_ms, scope) in
            [("test://plain", 1234, "public"), ("test://own", 0, "private"), ("test://result", 7, "public")]
        {
            let result = read(&server, &party, uri).result();
            if party.session.is_some() {
                let expected = if uri == "test://result" { 2 } else { 1 };
                assert_eq!(result.as_object().unwrap().len(), expected, "{result}");
                continue;
            }
            assert_eq!(
                (&result["ttlMs"], &result["cacheScope"]),
                (&json!(ttl_ms), &json!(scope)),
                "{result}"
            );
            assert_eq!(result["resultType"], "complete", "{result}");
            let own = &result["_meta"]["io.modelcontextprotocol/serverInfo"];
            assert_eq!(own["name"], "wire", "{result}");
        }
    }
}

/// What depends on the client's answers is not to be kept: no cache knows them.
#[test]
fn what_was_asked_for_again_is_not_to_be_kept() {
    let server = server();
    for party in Party::modern(&json!({})) {
        for uri in ["test://full", "test://template/1/data"] {
            for (answers, ttl_ms, scope) in [(json!({}), 0, "private"), (Value::Null, 60_000, "public")] {
                let params = json!({"uri": uri, "inputResponses": answers});
                let result = party.send(&server, &party.request(7, "resources/read", params)).result();
                assert_eq!(
                    (&result["ttlMs"], &result["cacheScope"]),
                    (&json!(ttl_ms), &json!(scope)),
                    "{result}"
                );
            }
        }
    }
}

/// Where credentials are needed, nothing is for everybody, whatever a resource says of itself.
#[test]
fn behind_credentials_everything_is_private() {
    let server = Server::with(|builder| {
        builder
            .authenticator(twolane::StaticTokens::parse("me s3cret\n").unwrap())
            .resource(Resource::text("test://a", "a", "x").cache_scope(CacheScope::Public))
    });
    let request = messages::modern(7, "resources/read", json!({"uri": "test://a"}));
    let response = server.send(&request.header("Authorization", "Bearer s3cret"));
    assert_eq!(response.result()["cacheScope"], "private");
}

#[test]
fn a_read_may_report_progress() {
    let server = Server::with(|builder| {
        builder
            .resource(Resource::new("test://steps", "steps", |context: Context| async move {
                for step in 1..=2 {
                    context.progress(f64::from(step), Some(2.0), None);
                    tokio::task::yield_now().await;
                }
                "done"
            }))
            .resource_template(ResourceTemplate::blocking(
                "test://{name}/steps",
                "blocking",
                |_: Variables, context: Context| {
                    context.progress(1.0, None, Some("half"));
                    context.progress(2.0, None, None);
                    "done"
                },
            ))
    });
    for party in all(&server) {
        for uri in ["test://steps", "test://a/steps"] {
            let params = json!({"uri": uri, "_meta": {"progressToken": "t"}});
            let mut talk = party.stream(&server, &party.request(7, "resources/read", params));
            for step in [1, 2] {
                let message = talk.message();
                assert_eq!(message["method"], "notifications/progress", "{message}");
                assert_eq!(message["params"]["progressToken"], "t");
                assert_eq!(message["params"]["progress"], step);
            }
            assert_eq!(talk.result()["contents"][0], json!({"uri": uri, "text": "done"}));
            assert_eq!(
                read(&server, &party, uri).result()["contents"][0]["text"],
                "done",
                "no token, no stream"
            );
        }
    }
}

#[test]
fn resources_come_and_go() {
    let server = Server::with(|builder| builder.limits(crate::limits::changed(&[("page_size", 2)])));
    let registry = server.handle.registry().clone();
    let resource = |at: u32| Resource::text(format!("test://{at}"), at.to_string(), at.to_string());
    for at in 0..5 {
        registry.add_resource(resource(at)).unwrap();
    }
    assert!(registry.add_resource(resource(3)).is_err());
    for party in all(&server) {
        let page = |cursor: Option<&Value>| {
            let params = cursor.map_or(Value::Null, |cursor| json!({ "cursor": cursor }));
            let mut result = party.send(&server, &party.request(7, "resources/list", params)).result();
            let list = result["resources"].as_array().unwrap().iter();
            let names: Vec<_> = list.map(|entry| entry["name"].as_str().unwrap().to_owned()).collect();
            (names, result.get_mut("nextCursor").map(Value::take))
        };
        let (first, next) = page(None);
        assert_eq!(first, ["0", "1"]);
        assert!(registry.remove_resource("test://1") && !registry.remove_resource("test://1"));
        registry.replace_resource(Resource::text("test://2", "2", "changed")).unwrap();
        let (second, next) = page(next.as_ref());
        assert_eq!(second, ["2", "3"]);
        assert_eq!(page(next.as_ref()), (vec!["4".to_owned()], None));
        assert_eq!(read(&server, &party, "test://2").result()["contents"][0]["text"], "changed");
        assert!(read(&server, &party, "test://1").json().get("error").is_some());
        // Back to where it began.
        registry.edit(|edit| {
            (0..5).for_each(|at| assert!(edit.remove_resource(&format!("test://{at}")) != (at == 1)));
            (0..5).try_for_each(|at| edit.add_resource(resource(at))).unwrap();
        });
        // A read is served by what its registry has at that moment.
        let template = || ResourceTemplate::new("test://t/{x}", "t", |_| async { "by template" });
        registry.add_resource_template(template()).unwrap();
        assert!(registry.add_resource_template(template()).is_err());
        assert_eq!(read(&server, &party, "test://t/1").result()["contents"][0]["text"], "by template");
        registry.add_resource(Resource::text("test://t/1", "t1", "by URI")).unwrap();
        assert_eq!(read(&server, &party, "test://t/1").result()["contents"][0]["text"], "by URI");
        assert!(registry.remove_resource("test://t/1") && registry.remove_resource_template("test://t/{x}"));
        assert!(read(&server, &party, "test://t/1").json().get("error").is_some());
    }
}

/// A modern read ends with its audience, like a call.
#[test]
fn whoever_leaves_ends_a_read() {
    struct Dropped(std::sync::mpsc::Sender<()>);
    impl Drop for Dropped {
        fn drop(&mut self) {
            let _ = self.0.send(());
        }
    }
    let server = Server::start();
    let (begun, has_begun) = std::sync::mpsc::channel();
    let (tell, told) = std::sync::mpsc::channel();
    let registry = server.handle.registry();
    let waits = Resource::new("test://waits", "waits", move || {
        let held = Dropped(tell.clone());
        begun.send(()).unwrap();
        async move {
            let _held = held;
            std::future::pending::<&str>().await
        }
    });
    registry.add_resource(waits).unwrap();
    let mut client = server.http1();
    client.write(&messages::modern(7, "resources/read", json!({"uri": "test://waits"})).bytes());
    has_begun.recv_timeout(Duration::from_secs(10)).unwrap();
    drop(client);
    told.recv_timeout(Duration::from_secs(10)).expect("the handler is dropped");
}

/// A read that runs keeps its resource, even where that has been removed.
#[test]
fn a_removed_resource_finishes() {
    let server = Server::start();
    let gate = server.tools.gate.clone();
    let held = gate.clone();
    let registry = server.handle.registry();
    let waits = Resource::new("test://waits", "waits", move || {
        let gate = held.clone();
        async move {
            gate.pass().await;
            "let go"
        }
    });
    registry.add_resource(waits).unwrap();
    let mut client = server.http1();
    let request = messages::modern(7, "resources/read", json!({"uri": "test://waits"}));
    client.write(&request.bytes());
    gate.await_begun(1);
    assert!(registry.remove_resource("test://waits"));
    gate.open(1);
    assert_eq!(client.read("POST").result()["contents"][0]["text"], "let go");
    assert_eq!(client.send(&request).code(), -32602);
}
