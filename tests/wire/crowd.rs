//! Many who listen at once, on both lanes and over both protocols.

use serde_json::json;

use crate::get_streams;
use crate::limits::server;
use crate::listen::{Ear, await_listeners, change_tools, listen};
use crate::support::Protocol;

const TOOLS: &str = "notifications/tools/list_changed";

/// More than are woken at once, and one in between that reads nothing.
#[test]
fn everybody_is_told_once() {
    let server = server(&[("list_changed_delay", 300)]);
    let protocol = |at: i32| if at % 4 == 0 { Protocol::Http2 } else { Protocol::Http1 };
    let mut ears: Vec<(serde_json::Value, Ear)> = (0..160)
        .map(|at| {
            let id = json!(at);
            let mut ear =
                Ear::open(&server, protocol(at), &listen(id.clone(), json!({"toolsListChanged": true})));
            ear.acknowledged(&id);
            (id, ear)
        })
        .collect();
    let mut sources: Vec<_> =
        (0..80).map(|at| get_streams::listen(&server, protocol(at), &server.session())).collect();
    await_listeners(&server, 160);
    let deaf = ears.remove(5);
    for _ in 0..2 {
        for _ in 0..20 {
            change_tools(&server);
        }
        for (id, ear) in &mut ears {
            assert_eq!(ear.told(id), (TOOLS.to_owned(), json!({})));
        }
        for source in &mut sources {
            assert_eq!(source.message().1["method"], TOOLS);
        }
    }
    // And nothing else.
    server.handle.shut_down();
    for (id, mut ear) in ears {
        ear.ends(&id);
    }
    sources.iter_mut().for_each(|source| assert!(source.assert_cut() > 0));
    let (id, mut ear) = deaf;
    assert_eq!(ear.told(&id).0, TOOLS);
    assert_eq!(ear.told(&id).0, TOOLS);
    ear.ends(&id);
}
