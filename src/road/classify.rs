//! Stage `classify`: the message kind, and the form of its id. Body-bound: a kind needs a message.

use crate::reply::rejection::Refusal;
use crate::tables::rejection::Rejection;
use crate::view::id::Id;
use crate::view::message::{Envelope, Spellings};

/// A message by its kind. Only a request has an id, so only a request's rejection can echo one.
#[derive(Debug, Clone, Copy)]
pub enum Message<'t, 'b> {
    /// A string `method` and an `id`.
    Request {
        /// The id, in a form that is accepted.
        id: Id<'t>,
        /// The method.
        method: &'b str,
        /// All of it.
        envelope: &'t Envelope<'t, 'b>,
    },
    /// A string `method`, no `id`.
    Notification {
        /// The method.
        method: &'b str,
        /// All of it.
        envelope: &'t Envelope<'t, 'b>,
    },
    /// No `method`, an `id`, and a `result` or an `error`.
    Response(&'t Envelope<'t, 'b>),
    /// Anything else.
    Unknown(&'t Envelope<'t, 'b>),
}

impl<'t, 'b> Message<'t, 'b> {
    /// The id that a rejection of this message echoes.
    #[must_use]
    pub const fn rejection_id(&self) -> Option<Id<'t>> {
        match self {
            Self::Request { id, .. } => Some(*id),
            Self::Notification { .. } | Self::Response(_) | Self::Unknown(_) => None,
        }
    }

    /// All of the message.
    #[must_use]
    pub const fn envelope(&self) -> &'t Envelope<'t, 'b> {
        match self {
            Self::Request { envelope, .. } | Self::Notification { envelope, .. } => envelope,
            Self::Response(envelope) | Self::Unknown(envelope) => envelope,
        }
    }
}

/// Tells the kind and reads the id.
///
/// # Errors
/// `invalid_id`, when a message with a method has an id that is neither a string nor an integer.
pub fn step<'t>(
    envelope: &'t Envelope<'t, 't>,
    spellings: Spellings<'t>,
) -> Result<Message<'t, 't>, Refusal<'static>> {
    match (envelope.method.and_then(|method| method.as_str()), envelope.id) {
        (Some(method), Some(id)) => {
            let id =
                Id::read(id, spellings).map_err(|fault| Refusal::text(Rejection::InvalidId, fault.text()))?;
            Ok(Message::Request { id, method, envelope })
        }
        (Some(method), None) => Ok(Message::Notification { method, envelope }),
        (None, Some(_))
            if envelope.method.is_none() && (envelope.result.is_some() || envelope.error.is_some()) =>
        {
            Ok(Message::Response(envelope))
        }
        (None, Some(_) | None) => Ok(Message::Unknown(envelope)),
    }
}
