//! How clients are asked: who seals, how long answers may take, and how many may be waited for.

use std::time::Duration;

use super::seal::Sealer;
use super::sealing_key::SealingKey;
use crate::base::limits::Limits;

/// What all calls of one server need for asking.
#[derive(Debug)]
pub struct Asking {
    sealer: Sealer,
    pub(super) push_window: Duration,
    pub(super) answer_timeout: Duration,
    pub(super) server_requests: usize,
    pub(super) question_bytes: usize,
    answer_bytes: usize,
}

impl Asking {
    /// The first key seals, all open; without any a random one is made.
    #[must_use]
    pub fn new(limits: &Limits, keys: &[SealingKey]) -> Self {
        Self {
            sealer: Sealer::new(keys, limits.request_state_ttl, limits.request_state),
            push_window: Duration::from_millis(limits.push_window),
            answer_timeout: Duration::from_millis(limits.answer_timeout),
            server_requests: usize::try_from(limits.server_requests).unwrap_or(usize::MAX),
            question_bytes: usize::try_from(limits.question_bytes).unwrap_or(usize::MAX),
            answer_bytes: usize::try_from(limits.answer_bytes).unwrap_or(usize::MAX),
        }
    }

    /// Who seals what modern calls remember.
    #[must_use]
    pub const fn sealer(&self) -> &Sealer {
        &self.sealer
    }

    /// The longest answer that is taken (`Limits::answer_bytes`).
    #[must_use]
    pub const fn answer_bytes(&self) -> usize {
        self.answer_bytes
    }
}
