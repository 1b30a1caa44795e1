//! `tasks/update` (SEP-2663): the client's answers to a task's questions. Part of them may come, and keys that are not open are ignored.

use super::{Request, tasks};
use crate::reply::rejection::Refusal;
use crate::reply::{Exchange, Reply};
use crate::session::requests::ClientAnswer;
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
    let responses = request.member("inputResponses").and_then(|responses| responses.as_object());
    for (key, response) in responses.into_iter().flatten() {
        // An answer is copied out of the request only when somebody waits for it.
        if task.is_open(key) {
            let mut json = Vec::new();
            response.write_json(&mut json);
            task.answer(key, ClientAnswer::Result(json).within(behind.asking().answer_bytes()));
        }
    }
    Ok(tasks::acknowledge(behind, request, exchange))
}
