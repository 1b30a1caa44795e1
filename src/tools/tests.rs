//! Calls from arguments to result, as the methods make them.

mod asking;
mod calls;
mod mailbox;
mod registering;
mod primitives;
mod paging;
mod allocations;

use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use crate::base::limits::Limits;
use crate::schema::testing::with_value;
use crate::session::commons::Commons;
use crate::session::id::SessionId;
use crate::session::state::{ClientInfo, Session};
use crate::tables::capabilities::Capabilities;
use crate::tables::versions::Revision;

use super::{Arguments, CallInfo, CallSlot, Entry, Produced, Registry, Running, TaskLink, Tool, ToolResult};

const MINUTE: Duration = Duration::from_secs(60);

fn registered(tool: impl Tool) -> Arc<Entry> {
    let registry = Registry::default();
    registry.add(tool).unwrap();
    let snapshot = registry.snapshot();
    Arc::clone(snapshot.tools().entries().next().unwrap())
}

fn info<'a>() -> CallInfo<'a> {
    CallInfo {
        revision: Revision::V2026_07_28,
        principal: None,
        client: None,
        capabilities: Capabilities::NONE,
        asking: None,
        session: None,
        log_level: None,
        may_stream: true,
        progress_token: None,
        buffer: 256,
        task: TaskLink::None,
    }
}

/// Starts a call with these arguments and a progress token.
fn start(entry: &Arc<Entry>, slot: &mut CallSlot, arguments: &str) -> Running {
    with_value(&format!("{{\"token\":\"t\",\"arguments\":{arguments}}}"), |params| {
        let context = slot.prepare(&CallInfo { progress_token: params.get("token"), ..info() });
        entry.start(Arguments::read(params.get("arguments")), context, MINUTE)
    })
}

/// Runs a call to its end.
async fn run(tool: impl Tool, arguments: &str) -> ToolResult {
    let mut running = start(&registered(tool), &mut CallSlot::default(), arguments);
    tool_result(std::future::poll_fn(|cx| running.poll(cx)).await)
}

/// Polls once without a runtime's task.
fn tool_result(produced: Produced) -> ToolResult {
    match produced {
        Produced::Tool(result) => result,
        other => panic!("{other:?}"),
    }
}

fn poll_once(running: &mut Running) -> Poll<ToolResult> {
    running.poll(&mut std::task::Context::from_waker(std::task::Waker::noop())).map(tool_result)
}

/// The one text of a result, and whether it is an error.
fn text(result: &ToolResult) -> (&str, bool) {
    match result.content.as_slice() {
        [content] => (content.as_text().unwrap_or("(no text)"), result.is_error),
        other => panic!("{other:?}"),
    }
}

/// A session that is ready and that nothing else holds.
fn open_session() -> Arc<Session> {
    let id = SessionId::random().unwrap();
    let commons = Arc::new(Commons::new(&Limits::default()));
    let session = Session::new(&commons, id, Revision::V2025_11_25, None, ClientInfo::default(), 0);
    session.make_ready();
    Arc::new(session)
}
