//! What a client keeps of what it hears.

use crate::json::Json;
use crate::rig::Request;
use crate::script::{Memory, Round};

impl Memory {
    /// Keeps what an answer hands out.
    pub(super) fn note(&mut self, request: &Request, answer: &Json) {
        let Some(result) = answer.get("result") else { return };
        let text = |key: &str| result.get(key).and_then(Json::as_str).map(str::to_owned);
        text("nextCursor").into_iter().for_each(|cursor| Self::keep(&mut self.cursors, cursor));
        if text("resultType").as_deref() == Some("task") {
            text("taskId").into_iter().for_each(|id| Self::keep(&mut self.tasks, id));
        }
        let (Some(state), Some(questions)) = (text("requestState"), result.get("inputRequests")) else {
            return;
        };
        let message = crate::json::read(&request.body).expect("it was taken");
        let Some(mut params) = message.get("params").cloned() else { return };
        // Every request has its own.
        params.remove(&["_meta"]);
        params.put(&["requestState"], Json::Text(state), false);
        let method =
            |message: &Json| message.get("method").and_then(Json::as_str).unwrap_or_default().to_owned();
        let questions =
            questions.members().iter().map(|(key, question)| (key.clone(), method(question))).collect();
        Self::keep(&mut self.rounds, Round { method: method(&message), params, questions });
    }

    /// Keeps what a message asks for that is no answer.
    pub(super) fn note_asked(&mut self, message: &Json) {
        if let (Some(id), Some(method)) = (message.get("id"), message.get("method").and_then(Json::as_str)) {
            Self::keep(&mut self.asked, (id.clone(), method.to_owned()));
        }
    }
}
