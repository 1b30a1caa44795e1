//! What all questions have in common.

use serde_json::Value;

use super::error::AskError;
use crate::tables::capabilities::{Capabilities, Capability};
use crate::tables::versions::Revision;

/// A request to the client, and how its answer is read.
pub(in crate::tools) trait Question {
    /// What the answer is read as.
    type Answer;
    /// The request's method.
    const METHOD: &'static str;

    /// What the client must have declared.
    fn needs(&self, revision: Revision) -> Vec<Capability>;

    /// The request's params, as `revision` has them.
    fn params(&self, revision: Revision) -> Result<Option<Value>, AskError>;

    /// Reads an answer; the error says what is wrong with it.
    fn read(&self, answer: &Value, revision: Revision) -> Result<Self::Answer, String>;
}

/// Whether the client has declared that it takes the question.
pub(super) fn permit<Q: Question>(
    question: &Q,
    revision: Revision,
    declared: Capabilities,
) -> Result<(), AskError> {
    match question.needs(revision).into_iter().find(|&capability| !declared.has(capability)) {
        Some(capability) => Err(AskError::Unsupported { capability, era: revision.era() }),
        None => Ok(()),
    }
}
