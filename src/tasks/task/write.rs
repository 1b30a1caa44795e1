//! A task on the wire.

use super::{Outcome, State, Status, Task};
use crate::base::clock::render_timestamp;
use crate::reply::json;

impl Task {
    /// Appends the members of a `Task`, without braces: what the answer that creates it carries.
    pub fn write(&self, out: &mut Vec<u8>) {
        self.write_common(out, &self.state());
    }

    /// Appends the members of a `DetailedTask`, without braces: what `tasks/get` and `notifications/tasks` carry.
    pub fn write_detailed(&self, out: &mut Vec<u8>) {
        let state = self.state();
        self.write_common(out, &state);
        if state.status == Status::InputRequired {
            out.extend_from_slice(b",\"inputRequests\":{");
            for (at, open) in state.open.iter().enumerate() {
                if at > 0 {
                    out.push(b',');
                }
                json::write_str(out, &open.key);
                out.push(b':');
                out.extend_from_slice(&open.request);
            }
            out.push(b'}');
        }
        match &state.outcome {
            Some(Outcome::Completed(json)) => member(out, b",\"result\":", json),
            Some(Outcome::Failed(json)) => member(out, b",\"error\":", json),
            None => {}
        }
    }

    fn write_common(&self, out: &mut Vec<u8>, state: &State) {
        out.extend_from_slice(b"\"taskId\":");
        json::write_str(out, self.id.as_str());
        out.extend_from_slice(b",\"status\":");
        json::write_str(out, state.status.as_str());
        if let Some(message) = &state.message {
            out.extend_from_slice(b",\"statusMessage\":");
            json::write_str(out, message);
        }
        for (key, wall_ms) in [
            (b",\"createdAt\":\"".as_slice(), self.created_wall_ms),
            (b",\"lastUpdatedAt\":\"", state.updated_wall_ms),
        ] {
            out.extend_from_slice(key);
            out.extend_from_slice(&render_timestamp(wall_ms));
            out.push(b'"');
        }
        out.extend_from_slice(b",\"ttlMs\":");
        json::write_int(out, self.ttl_ms);
        out.extend_from_slice(b",\"pollIntervalMs\":");
        json::write_int(out, self.poll_interval_ms);
    }
}

fn member(out: &mut Vec<u8>, key: &[u8], json: &[u8]) {
    out.extend_from_slice(key);
    out.extend_from_slice(json);
}
