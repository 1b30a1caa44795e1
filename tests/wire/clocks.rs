//! The time of day is set by hours while the server runs: only what other processes must understand goes by it.

use serde_json::{Value, json};
use twolane::tools::{TaskSupport, Typed};

use crate::rounds::asking;
use crate::support::party::Party;
use crate::support::{Protocol, Server, messages};

const HOUR_MS: i64 = 3_600_000;

fn capabilities() -> Value {
    json!({"elicitation": {}, "extensions": {"io.modelcontextprotocol/tasks": {}}})
}

/// Sessions and tasks live by a clock that nobody sets.
#[test]
fn sessions_and_tasks_do_not_notice() {
    let server = Server::with(|builder| {
        builder.tool(Typed::new("job", "A task.", |_: Value| async { "done" }).tasks(TaskSupport::Required))
    });
    let session = server.session();
    let list = messages::legacy(&session, &messages::request(1, "tools/list", Value::Null));
    let party = Party::modern(&capabilities()).remove(0);
    for by in [-100 * HOUR_MS, 300 * HOUR_MS, -300 * HOUR_MS] {
        let created = party.send(&server, &party.call("job", json!({}))).result();
        let id = created["taskId"].as_str().unwrap_or_else(|| panic!("{created}")).to_owned();
        server.clock.set_wall_ms(by);
        assert_eq!((server.handle.sweep(), server.handle.tasks() > 0), (0, true));
        assert_eq!(server.send(&list).status, 200);
        let get = party.request(1, "tasks/get", json!({"taskId": id})).set("Mcp-Name", &id);
        assert_eq!(party.send(&server, &get).status, 200);
    }
    // Their own time goes on whatever the other says.
    server.clock.set_wall_ms(-300 * HOUR_MS);
    server.clock.advance_ms(1_800_001);
    assert_eq!(server.handle.sweep(), 1);
    assert_eq!(server.send(&list).status, 404);
}

/// A state goes by the time of day, which other nodes have as well. Set forward it has expired; set back a little it is taken, but by no more
/// than it was to live: nobody gains time by it.
#[test]
fn states_go_by_the_time_of_day() {
    let (server, _) = asking();
    let life = 1_800_000;
    for (by, taken) in [(0, true), (life - 1, true), (life, false), (-life, true), (-life - 1, false)] {
        for party in Party::modern(&capabilities()) {
            let asked = party.send(&server, &party.call("ask_name", json!({}))).result();
            server.clock.set_wall_ms(by);
            let answered = party.send(
                &server,
                &party.call_with("ask_name", json!({}), |params| {
                    params["requestState"] = asked["requestState"].clone();
                    params["inputResponses"] =
                        json!({"user_name": {"action": "accept", "content": {"name": "Ada"}}});
                }),
            );
            server.clock.set_wall_ms(-by);
            if taken {
                assert_eq!(answered.tool_text(), "Hello, Ada!", "{by}");
            } else {
                assert_eq!(answered.code(), -32602, "{by}: {answered}");
            }
        }
    }
    // The date line is the system's, whatever the server's own clock shows.
    let date = server.client(Protocol::Http1).send(&messages::modern(1, "server/discover", Value::Null));
    assert!(date.header("date").is_some());
}
