//! Listening for resources and prompts: lists that change and contents that do, each told to those who asked.

use serde_json::{Value, json};
use twolane::server::Builder;
use twolane::tools::{Context, Prompt, PromptArguments, Resource, Typed};

use crate::limits::{changed, server};
use crate::listen::{Ear, await_listeners, change_tools, listen};
use crate::support::{Protocol, Server, messages};

const UPDATED: &str = "notifications/resources/updated";

fn resource(at: u32) -> Resource {
    Resource::text(format!("test://r/{at}"), format!("r{at}"), "text")
}

fn prompt(name: &str) -> Prompt {
    Prompt::new(name, "A prompt.", |_: PromptArguments| async { "text" })
}

/// Offers resources and prompts; its tool `touch` says that a resource has changed.
fn offering(builder: Builder) -> Builder {
    let registry = builder.registry().clone();
    let touch = Typed::immediate("touch", "Changes a resource.", move |uri: Uri| {
        registry.resource_updated(&uri.uri);
        "touched"
    });
    builder.tool(touch).resource(resource(0)).prompt(prompt("p"))
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Uri {
    uri: String,
}

fn updated(uri: &str) -> (String, Value) {
    (UPDATED.to_owned(), json!({"uri": uri}))
}

#[test]
fn two_filters_are_two_streams() {
    for protocol in Protocol::BOTH {
        let server = Server::with(offering);
        let registry = server.handle.registry();
        let filters = [
            json!({"toolsListChanged": true}),
            json!({"promptsListChanged": true, "resourceSubscriptions": ["test://r/0"]}),
            json!({"resourcesListChanged": true, "resourceSubscriptions": ["test://r/1", "test://é\u{2028}", "test://r/0"]}),
        ];
        let ids = [json!("tools"), json!(4_294_967_296_u64), json!(0)];
        let mut ears: Vec<Ear> = ids
            .iter()
            .zip(&filters)
            .map(|(id, filter)| {
                let mut ear = Ear::open(&server, protocol, &listen(id.clone(), filter.clone()));
                assert_eq!(ear.acknowledged(id), *filter, "all of it is honoured, in the order asked for");
                ear
            })
            .collect();
        // One after the other, so that the order of what is told says that nothing else was.
        registry.add_prompt(prompt("another")).unwrap();
        assert_eq!(ears[1].told(&ids[1]), ("notifications/prompts/list_changed".to_owned(), json!({})));
        registry.add_resource(resource(1)).unwrap();
        assert_eq!(ears[2].told(&ids[2]), ("notifications/resources/list_changed".to_owned(), json!({})));
        registry.resource_updated("test://é\u{2028}");
        assert_eq!(ears[2].told(&ids[2]), updated("test://é\u{2028}"));
        registry.resource_updated("test://nobody");
        let touch = messages::modern_call(9, "touch", json!({"uri": "test://r/0"}));
        assert_eq!(server.send(&touch).tool_text(), "touched");
        assert_eq!(ears[1].told(&ids[1]), updated("test://r/0"));
        assert_eq!(ears[2].told(&ids[2]), updated("test://r/0"));
        change_tools(&server);
        assert_eq!(ears[0].told(&ids[0]).0, "notifications/tools/list_changed");
        server.handle.shut_down();
        for (id, ear) in ids.iter().zip(&mut ears) {
            ear.ends(id);
        }
        await_listeners(&server, 0);
    }
}

#[test]
fn a_burst_of_updates_is_told_once_for_each_resource() {
    for protocol in Protocol::BOTH {
        let server =
            Server::with(|builder| offering(builder).limits(changed(&[("list_changed_delay", 300)])));
        let uris = ["test://b", "test://a", "test://c"];
        let filter = json!({"resourceSubscriptions": uris, "resourcesListChanged": true});
        let mut ear = Ear::open(&server, protocol, &listen(1, filter.clone()));
        assert_eq!(
            ear.acknowledged(&json!(1)),
            json!({"resourcesListChanged": true, "resourceSubscriptions": uris})
        );
        let registry = server.handle.registry();
        for at in 0..30 {
            registry.resource_updated(uris[at % 2]);
            registry.replace_resource(resource(7)).unwrap();
        }
        assert_eq!(ear.told(&json!(1)).0, "notifications/resources/list_changed");
        let mut told = [ear.told(&json!(1)), ear.told(&json!(1))];
        told.sort_by_key(|(_, params)| params.to_string());
        assert_eq!(told, [updated("test://a"), updated("test://b")]);
        server.handle.shut_down();
        ear.ends(&json!(1));
    }
}

/// More updates at once than are kept one by one: nobody misses one, and nobody is told of what it has not asked for.
#[test]
fn more_updates_than_are_kept() {
    let limits = changed(&[("list_changed_delay", 300), ("updated_resources", 2)]);
    for (updates, told) in [(2, vec!["test://0"]), (3, vec!["test://0", "test://other"])] {
        let server = Server::with(|builder| offering(builder).limits(limits.clone()));
        let filter = json!({"resourceSubscriptions": ["test://0", "test://other"]});
        let mut ear = Ear::open(&server, Protocol::Http1, &listen(1, filter));
        ear.acknowledged(&json!(1));
        for at in 0..updates {
            server.handle.registry().resource_updated(&format!("test://{at}"));
        }
        for uri in told {
            assert_eq!(ear.told(&json!(1)), updated(uri), "{updates} updates");
        }
        server.handle.shut_down();
        ear.ends(&json!(1));
    }
}

/// A listener that does not read is owed each resource once, however often it changes meanwhile.
#[test]
fn what_is_owed_to_a_slow_reader_does_not_grow() {
    let server = Server::with(|builder| {
        offering(builder).limits(changed(&[("list_changed_delay", 0), ("batch_bytes", 1024)]))
    });
    let id = "i".repeat(8_000);
    let uris: Vec<String> = (0..200).map(|at| format!("test://{at}")).collect();
    let request = listen(id.clone(), json!({"resourceSubscriptions": uris}));
    let mut client = server.http1();
    client.write(&request.bytes());
    await_listeners(&server, 1);
    // Told one by one, these would be 480 megabytes.
    for _ in 0..300 {
        for uri in &uris {
            server.handle.registry().resource_updated(uri);
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    server.handle.registry().resource_updated("test://199");
    server.handle.shut_down();
    let head = client.read_head();
    assert_eq!(head.status, 200);
    let mut told = vec![0_u32; uris.len()];
    let mut messages = 0;
    while let Some(event) = client.next_event() {
        let message = event.json();
        messages += 1;
        if let Some(uri) = message["params"]["uri"].as_str() {
            told[uris.iter().position(|other| other == uri).unwrap()] += 1;
        }
    }
    assert!(told.iter().all(|&times| times > 0), "nothing is lost: {told:?}");
    // What the system and the server had taken before the reader was slow, and then each once.
    assert!((200..10_000).contains(&messages), "{messages} messages were kept");
}

/// Anybody may change things while somebody is being told; nobody is told twice of one thing.
#[test]
fn a_handler_tells_through_what_it_was_given() {
    let server = server(&[]);
    let registry = server.handle.registry().clone();
    let inner = registry.clone();
    let grow = move |_: Value, _: Context| {
        let inner = inner.clone();
        async move {
            let _ = inner.replace_resource(resource(1));
            inner.resource_updated("test://r/1");
            "grown"
        }
    };
    registry.add(Typed::new("grow", "Adds a resource.", grow)).unwrap();
    // Resources are not offered yet, and so not honoured; once there is one they are.
    let filter = json!({"resourcesListChanged": true, "resourceSubscriptions": ["test://r/1"]});
    for protocol in Protocol::BOTH {
        registry.remove_resource("test://r/1");
        let response = server.client(protocol).send(&listen(1, filter.clone()));
        assert_eq!(response.events()[0].json()["params"]["notifications"], json!({}));
        registry.add_resource(resource(1)).unwrap();
        let mut ear = Ear::open(&server, protocol, &listen(1, filter.clone()));
        assert_eq!(ear.acknowledged(&json!(1)), filter);
        // What was registered just before may be told of too, before what follows.
        let call = messages::modern_call(2, "grow", json!({}));
        assert_eq!(server.client(protocol).send(&call).tool_text(), "grown");
        let mut told = Vec::new();
        while !told.contains(&updated("test://r/1")) {
            told.push(ear.told(&json!(1)));
        }
        assert!(told.len() <= 3, "{told:?}");
        assert_eq!(told[0].0, "notifications/resources/list_changed");
    }
}
