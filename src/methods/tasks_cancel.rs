//! `tasks/cancel` (SEP-2663): stops a task. One that is over is acknowledged all the same.

use super::{Request, tasks};
use crate::reply::rejection::Refusal;
use crate::reply::{Exchange, Reply};
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
    match tasks::find(behind, request, exchange)? {
        Ok(task) => task.cancel(),
        Err(reply) => return Ok(reply),
    }
    Ok(tasks::acknowledge(behind, request, exchange))
}
