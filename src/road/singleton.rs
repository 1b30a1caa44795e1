//! Stage `singleton`: headers that may stand once. A wire check, and the last before the door.

use std::sync::Arc;

use super::limit::Admitted;
use crate::base::principal::Principal;
use crate::reply::rejection::Refusal;
use crate::tables::headers::Known;
use crate::tables::rejection::Rejection;
use crate::view::head::{Cardinality, RequestHead};

/// Proof that every wire check has passed, and the headers that stand once. Only this opens the door to sessions and tools.
#[derive(Debug)]
pub struct Singletons<'h> {
    session_id: Option<&'h [u8]>,
    protocol_version: Option<&'h [u8]>,
    principal: Option<Arc<Principal>>,
}

impl<'h> Singletons<'h> {
    /// `Mcp-Session-Id`.
    #[must_use]
    pub const fn session_id(&self) -> Option<&'h [u8]> {
        self.session_id
    }

    /// `MCP-Protocol-Version`.
    #[must_use]
    pub const fn protocol_version(&self) -> Option<&'h [u8]> {
        self.protocol_version
    }

    /// Who is asking.
    #[must_use]
    pub const fn principal(&self) -> Option<&Arc<Principal>> {
        self.principal.as_ref()
    }
}

/// Checks cardinality: `Mcp-Session-Id`, then `MCP-Protocol-Version`. A duplicated `Last-Event-ID` degrades to none, where it is read.
///
/// # Errors
/// `duplicated_session_id`, `duplicated_protocol_version`.
pub fn check<'h>(head: &RequestHead<'h>, admitted: Admitted) -> Result<Singletons<'h>, Refusal<'h>> {
    Ok(Singletons {
        session_id: single(head, Known::SessionId, Rejection::DuplicatedSessionId)?,
        protocol_version: single(head, Known::ProtocolVersion, Rejection::DuplicatedProtocolVersion)?,
        principal: admitted.into_principal(),
    })
}

fn single<'h>(head: &RequestHead<'h>, known: Known, row: Rejection) -> Result<Option<&'h [u8]>, Refusal<'h>> {
    match head.header(known) {
        Cardinality::Missing => Ok(None),
        Cardinality::One(value) => Ok(Some(value)),
        Cardinality::Many => Err(Refusal::plain(row)),
    }
}
