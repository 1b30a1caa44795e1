//! `tasks/get` (SEP-2663): what has become of a task. The result type is *complete*, whatever the task's status.

use super::{Request, tasks};
use crate::reply::rejection::Refusal;
use crate::reply::{Exchange, Reply, envelope};
use crate::tools::Behind;

/// Answers.
///
/// # Errors
/// `missing_client_capability`.
pub fn serve(
    behind: &Behind,
    request: &Request<'_, '_, '_>,
    exchange: &mut Exchange,
) -> Result<Reply, Refusal<'static>> {
    let task = match tasks::find(behind, request, exchange)? {
        Ok(task) => task,
        Err(reply) => return Ok(reply),
    };
    let out = &mut exchange.body;
    envelope::begin_result_for(out, request.id);
    task.write_detailed(out);
    out.push(b',');
    tasks::write_tail(out, behind.identity(), "complete");
    envelope::end_result(out);
    Ok(Reply::json(200))
}
