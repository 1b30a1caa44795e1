//! What clients do: short plays, each of which knows how it must end.

mod aborts;
mod asking;
mod calls;
mod framing;
mod http2;
mod large;
mod listening;
mod resuming;
mod session;
mod sessions;
mod tasks;

use crate::ledger::Outcome;
use crate::person::Person;

/// A play.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scene {
    Calls,
    Refusals,
    ClosingRefusals,
    BrokenHttp,
    Pipelines,
    Dribbles,
    HalfCloses,
    IdleConnections,
    Progress,
    Rounds,
    Tasks,
    TasksThatAsk,
    Listening,
    Large,
    SlowReaders,
    Together,
    Resets,
    Dropped,
    AbortedHeads,
    AbortedCalls,
    AbortedAnswers,
    Sessions,
    Batches,
    LegacyProgress,
    Resuming,
    GetStreams,
    Asked,
    Cancelled,
    Detached,
}

/// Every play, how often it is given among a hundred and some, and whether it needs more than the plain program has.
const PLAYS: &[(Scene, u64, bool)] = &[
    (Scene::Calls, 12, false),
    (Scene::Refusals, 8, false),
    (Scene::ClosingRefusals, 4, false),
    (Scene::BrokenHttp, 4, false),
    (Scene::Pipelines, 8, false),
    (Scene::Dribbles, 3, false),
    (Scene::HalfCloses, 4, false),
    (Scene::IdleConnections, 3, false),
    (Scene::Progress, 6, false),
    (Scene::Rounds, 4, true),
    (Scene::Tasks, 6, false),
    (Scene::TasksThatAsk, 3, true),
    (Scene::Listening, 4, true),
    (Scene::Large, 4, false),
    (Scene::SlowReaders, 3, true),
    (Scene::Together, 8, false),
    (Scene::Resets, 4, false),
    (Scene::Dropped, 4, false),
    (Scene::AbortedHeads, 5, false),
    (Scene::AbortedCalls, 5, false),
    (Scene::AbortedAnswers, 4, false),
    (Scene::Sessions, 10, false),
    (Scene::Batches, 4, false),
    (Scene::LegacyProgress, 4, false),
    (Scene::Resuming, 5, false),
    (Scene::GetStreams, 4, true),
    (Scene::Asked, 5, true),
    (Scene::Cancelled, 4, false),
    (Scene::Detached, 4, false),
];

impl Scene {
    /// One of those that the server can be played with.
    pub(crate) fn choose(person: &mut Person) -> Self {
        let rich = person.shared.rich;
        let possible = || PLAYS.iter().filter(|(_, _, needs)| rich || !needs);
        let total: u64 = possible().map(|(_, weight, _)| weight).sum();
        let mut at = person.random.within(1, total);
        for (scene, weight, _) in possible() {
            if at <= *weight {
                return *scene;
            }
            at -= weight;
        }
        Self::Calls
    }

    /// Its name in the books.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Calls => "modern calls",
            Self::Refusals => "refusals",
            Self::ClosingRefusals => "refusals that close",
            Self::BrokenHttp => "broken HTTP/1.1",
            Self::Pipelines => "pipelines",
            Self::Dribbles => "slow senders",
            Self::HalfCloses => "half-closes",
            Self::IdleConnections => "idle connections",
            Self::Progress => "modern streams",
            Self::Rounds => "modern questions",
            Self::Tasks => "tasks",
            Self::TasksThatAsk => "tasks that ask",
            Self::Listening => "subscriptions/listen",
            Self::Large => "large bodies",
            Self::SlowReaders => "slow readers",
            Self::Together => "many HTTP/2 streams",
            Self::Resets => "RST_STREAM",
            Self::Dropped => "dropped HTTP/2",
            Self::AbortedHeads => "aborts in requests",
            Self::AbortedCalls => "aborts before answers",
            Self::AbortedAnswers => "aborts in answers",
            Self::Sessions => "sessions",
            Self::Batches => "batches",
            Self::LegacyProgress => "legacy streams",
            Self::Resuming => "streams resumed",
            Self::GetStreams => "GET streams",
            Self::Asked => "legacy questions",
            Self::Cancelled => "cancelled calls",
            Self::Detached => "legacy calls left",
        }
    }

    /// Gives it.
    pub(crate) async fn play(self, person: &mut Person) -> Outcome {
        match self {
            Self::Calls => calls::calls(person).await,
            Self::Refusals => calls::refusals(person).await,
            Self::ClosingRefusals => calls::closing_refusals(person).await,
            Self::BrokenHttp => framing::broken(person).await,
            Self::Pipelines => framing::pipelines(person).await,
            Self::Dribbles => framing::dribbles(person).await,
            Self::HalfCloses => framing::half_closes(person).await,
            Self::IdleConnections => calls::idle(person).await,
            Self::Progress => calls::progress(person).await,
            Self::Rounds => asking::rounds(person).await,
            Self::Tasks => tasks::tasks(person).await,
            Self::TasksThatAsk => tasks::asking(person).await,
            Self::Listening => listening::listen(person).await,
            Self::Large => large::large(person).await,
            Self::SlowReaders => large::slow_readers(person).await,
            Self::Together => http2::together(person).await,
            Self::Resets => http2::resets(person).await,
            Self::Dropped => http2::dropped(person).await,
            Self::AbortedHeads => aborts::requests(person).await,
            Self::AbortedCalls => aborts::calls(person).await,
            Self::AbortedAnswers => aborts::answers(person).await,
            Self::Sessions => sessions::sessions(person).await,
            Self::Batches => sessions::batches(person).await,
            Self::LegacyProgress => resuming::whole(person).await,
            Self::Resuming => resuming::resumed(person).await,
            Self::GetStreams => listening::get_streams(person).await,
            Self::Asked => asking::asked(person).await,
            Self::Cancelled => sessions::cancelled(person).await,
            Self::Detached => aborts::detached(person).await,
        }
    }
}
