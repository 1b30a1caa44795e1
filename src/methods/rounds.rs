//! The rounds of a modern call that asks its client (2026-07-28, basic/patterns/mrtr): what an earlier round remembered is opened, what this
//! one remembers is sealed.

use std::sync::Arc;

use super::Request;
use super::digest::digest;
use crate::base::clock::Clock;
use crate::base::principal::Principal;
use crate::tables::capabilities::Capabilities;
use crate::tables::versions::Era;
use crate::tools::seal::{Binding, OpenFault, RequestDigest, SealFault};
use crate::tools::{Asking, Context, Given, InputRequired, Memory};

/// Hands the call what its client has brought back.
///
/// # Errors
/// Why it is not taken, for the client. A state that is not taken never leads to another question.
pub(super) fn resume(
    asking: &Asking,
    request: &Request<'_, '_, '_>,
    context: &Context,
) -> Result<(), &'static str> {
    // Both are among the params that have no slot.
    if request.era() == Era::Legacy || !request.params.others {
        return Ok(());
    }
    let member = |key| request.all.and_then(|params| params.get(key));
    let state = member("requestState").and_then(|state| state.as_str());
    let given = member("inputResponses").and_then(|given| given.as_object());
    if state.is_none() && given.is_none() {
        return Ok(());
    }
    let memory = match state {
        Some(state) => open(asking, request, state).map_err(OpenFault::text)?,
        None => Memory::default(),
    };
    let mut answers = Given::new(asking.answer_bytes());
    for (key, answer) in given.into_iter().flatten() {
        answers.put(key, answer);
    }
    context.resume(memory, answers);
    Ok(())
}

fn open(asking: &Asking, request: &Request<'_, '_, '_>, state: &str) -> Result<Memory, OpenFault> {
    let digest = digest(request);
    let binding = Binding {
        principal: request.principal.map(AsRef::as_ref),
        request: &digest,
        now_ms: request.clock.wall_ms(),
    };
    let opened = asking.sealer().open(binding, state)?;
    Memory::read(&opened).ok_or(OpenFault::Invalid)
}

/// What sealing needs of a request that may be gone by then.
#[derive(Debug)]
pub(super) struct Sealing {
    asking: Arc<Asking>,
    digest: RequestDigest,
    clock: Clock,
}

impl Sealing {
    /// `None` where nothing is ever sealed: on the legacy lane, and for a client that has declared nothing it could be asked. A digest
    /// takes its time where arguments are large, and hardly a call asks.
    pub(super) fn of(
        asking: &Arc<Asking>,
        request: &Request<'_, '_, '_>,
        declared: Capabilities,
    ) -> Option<Self> {
        match request.era() {
            Era::Modern if declared.can_be_asked() => Some(Self {
                asking: Arc::clone(asking),
                digest: digest(request),
                clock: request.clock.clone(),
            }),
            Era::Modern | Era::Legacy => None,
        }
    }

    /// Seals what the next round must know.
    ///
    /// # Errors
    /// [`SealFault`].
    pub(super) fn seal(
        &self,
        principal: Option<&Arc<Principal>>,
        required: &InputRequired,
    ) -> Result<String, SealFault> {
        let principal = principal.map(AsRef::as_ref);
        let binding = Binding { principal, request: &self.digest, now_ms: self.clock.wall_ms() };
        self.asking.sealer().seal(binding, &required.memory.write())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::limits::Limits;
    use crate::tables::capabilities::Capability;
    use crate::tables::methods::Method;
    use crate::tables::versions::Revision;
    use crate::view::id::Id;
    use crate::view::message::Params;

    #[test]
    fn nothing_is_hashed_for_who_cannot_be_asked() {
        let asking = Arc::new(Asking::new(&Limits::default(), &[]));
        let clock = Clock::system();
        let params = Params::default();
        let request = |revision| Request {
            id: Id::Unsigned(1),
            method: Method::ToolsCall,
            params: &params,
            all: None,
            revision,
            session: None,
            principal: None,
            may_stream: true,
            clock: &clock,
            size: 0,
        };
        for (revision, declared, seals) in [
            (Revision::V2026_07_28, Capabilities::NONE, false),
            (Revision::V2026_07_28, Capabilities::NONE.with(Capability::Tasks), false),
            (Revision::V2026_07_28, Capabilities::NONE.with(Capability::Roots), true),
            (Revision::V2026_07_28, Capabilities::NONE.with(Capability::ElicitationUrl), true),
            (Revision::V2025_11_25, Capabilities::NONE.with(Capability::Roots), false),
        ] {
            let sealing = Sealing::of(&asking, &request(revision), declared);
            assert_eq!(sealing.is_some(), seals, "{revision:?} {declared:?}");
        }
    }
}
