//! How streams are opened on a session and come back to, and how calls become known to it.

use std::sync::Arc;

use super::event_id::EventId;
use super::flight::{Flight, Registered};
use super::log::Kind;
use super::reader::Reader;
use super::state::Session;
use super::streams::Found;
use super::writer::Writer;
use crate::tables::versions::Feature;

/// What came of a client's wish to come back to a stream.
#[derive(Debug)]
pub enum Resumed {
    /// It goes on from where the client has left.
    Reader(Reader),
    /// It is over, and the client has all of it.
    Over,
    /// It is not there, or a part that the client has not seen is gone.
    Lost,
}

impl Session {
    /// Opens a stream for what the server has to say outside of any call. `None` where the session has ended.
    pub fn listen(self: &Arc<Self>) -> Option<Reader> {
        let number = self.next_stream();
        let primed = self.revision.has(Feature::Priming);
        let reader = self.with_streams(|streams| {
            self.owe_unheard(streams);
            streams.open(number, Kind::Listen, primed, Vec::new())
        })?;
        Some(Reader::new(self, number, reader))
    }

    /// Lets a client come back to the stream whose event it has seen last.
    pub fn resume(self: &Arc<Self>, last_event_id: &[u8]) -> Resumed {
        let Some(event) = EventId::parse(last_event_id) else { return Resumed::Lost };
        let found = self.with_made_streams(|streams| match streams.find(event) {
            Found::At(next) => Ok(streams.resume(event.stream, next)),
            Found::Over => Err(Resumed::Over),
            Found::Lost => Err(Resumed::Lost),
        });
        match found {
            Some(Ok(reader)) => Resumed::Reader(Reader::new(self, event.stream, reader)),
            Some(Err(resumed)) => resumed,
            None => Resumed::Lost,
        }
    }

    /// Opens the stream of a call, of which `flights` are the parts that can be cancelled. `None` where the session has ended.
    pub fn begin_stream(self: &Arc<Self>, flights: Vec<Arc<Flight>>) -> Option<(Writer, Reader)> {
        let number = self.next_stream();
        let primed = self.revision.has(Feature::Priming);
        let reader = self.with_streams(|streams| streams.open(number, Kind::Call, primed, flights))?;
        Some((Writer::new(self, number), Reader::new(self, number, reader)))
    }

    /// Makes a call that goes on known by its id, so that the client can cancel it. On a session that has ended it is cancelled at once.
    pub fn register(self: &Arc<Self>, id: &[u8]) -> Registered {
        let flight = Arc::new(Flight::new(id));
        let key = self.with_streams(|streams| streams.register(&flight));
        if key.is_none() {
            flight.cancel();
        }
        Registered { session: Arc::clone(self), key: key.unwrap_or_default(), flight }
    }

    /// Cancels every call in flight that has this id, as JSON.
    pub fn cancel(&self, id: &[u8]) {
        self.with_made_streams(|streams| streams.cancel(id));
    }
}
