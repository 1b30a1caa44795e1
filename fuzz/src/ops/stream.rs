//! Streams: opened, written, read, left and come back to.

use super::model::AWAY;
use super::*;

impl Run {
    pub(super) fn listen(&mut self, at: u8) {
        let Some((at, session)) = self.session(at) else { return };
        let reader = session.listen();
        assert_eq!(reader.is_none(), self.model.sessions[at].ended);
        let Some(reader) = reader else { return self.model.missed(at) };
        let (stream, place) = self.model.begin(at, true);
        self.readers.push(Held { session: at, stream, place, reader });
    }

    pub(super) fn call(&mut self, at: u8, id: u8) {
        let Some((at, session)) = self.session(at) else { return };
        let id = IDS[usize::from(id) % IDS.len()];
        let registered = session.register(id.as_bytes());
        let flight = Arc::clone(registered.flight());
        assert_eq!(flight.id(), id.as_bytes());
        let begun = session.begin_stream(vec![Arc::clone(&flight)]);
        let ended = self.model.sessions[at].ended;
        assert_eq!(begun.is_none(), ended);
        let Some((writer, reader)) = begun else {
            let mut cx = Context::from_waker(Waker::noop());
            assert!(flight.poll_cancelled(&mut cx).is_ready(), "a call on a session that has ended");
            return self.model.missed(at);
        };
        let (stream, place) = self.model.begin(at, false);
        self.readers.push(Held { session: at, stream, place, reader });
        self.model.flies(at, stream, id);
        self.calls.push(Call {
            session: at,
            stream,
            writer: Some(writer),
            flight,
            registered: Some(registered),
        });
    }

    /// Reads one event. False where there was none.
    pub(super) fn read(&mut self, at: usize) -> bool {
        let Held { session, stream, place, reader } = &self.readers[at];
        let (session, stream, place) = (*session, *stream, *place);
        let next = match reader.poll(&Context::from_waker(Waker::noop())) {
            Poll::Ready(next) => Some(next),
            Poll::Pending => None,
        };
        let model = &mut self.model;
        if model.sessions[session].ended {
            assert!(matches!(next, Some(Next::End)), "{next:?} of a session that has ended");
            return false;
        }
        let log = &model.sessions[session].streams[stream];
        if log.reader != Some(place) {
            // Another reader has come for it, and may have let it be forgotten.
            let forgotten = model.tight && matches!(next, Some(Next::End));
            assert!(forgotten || matches!(next, Some(Next::Cut(AWAY))), "{next:?}");
            return false;
        }
        let Place { next: from, cut } = model.places[place].clone();
        if cut.is_some_and(|cut| from >= cut) {
            assert!(matches!(next, Some(Next::Cut(_))), "{next:?}");
            return false;
        }
        if from == log.events.len() && !log.open {
            assert!(matches!(next, Some(Next::End)), "{next:?}");
            return false;
        }
        let told = from == log.events.len();
        match next {
            None => {
                assert!(told, "there is more to read");
                self.nothing_to_tell(session, stream);
                false
            }
            Some(Next::Event(event) | Next::Answer(event)) if told => {
                self.tell(session, stream, place, &event);
                true
            }
            Some(next) => {
                self.take(session, stream, place, &next);
                true
            }
        }
    }

    /// An event that was written before.
    fn take(&mut self, session: usize, stream: usize, place: usize, next: &Next) {
        let log = &self.model.sessions[session].streams[stream];
        let from = self.model.places[place].next;
        let last = from + 1 == log.events.len() && !log.open && log.answered;
        let event = match next {
            Next::Event(event) if !last => event,
            Next::Answer(event) if last => event,
            _ => panic!("{next:?} at {from} of {log:?}"),
        };
        let (id, data) = parts(event);
        let instead = last && log.instead.as_ref() == Some(&data);
        assert!(data == log.events[from] || instead, "{data} instead of {}", log.events[from]);
        self.note(session, stream, from, id);
        self.model.places[place].next += 1;
    }

    fn note(&mut self, session: usize, stream: usize, event: usize, id: EventId) {
        let number = self.model.sessions[session].number(stream);
        assert_eq!((id.stream, id.event), (number, event as u64));
        if let Some((_, other)) = self.seen.iter().find(|(other, _)| *other == session) {
            assert_eq!(id.tag, other.tag);
        }
        if !self.seen.contains(&(session, id)) {
            self.seen.push((session, id));
        }
    }

    /// A stream that listens has something to tell of.
    fn tell(&mut self, session: usize, stream: usize, place: usize, event: &[u8]) {
        assert_eq!(self.model.newest(session), Some(stream), "only the newest tells");
        let model = &mut self.model.sessions[session];
        assert!(model.ready, "nothing is told before the client is ready");
        let (id, data) = parts(event);
        match Topic::ALL.iter().find(|topic| topic.notification() == data) {
            Some(&topic) => model.told(topic),
            None => {
                let uri = URIS.iter().find(|uri| data.contains(&format!("{{\"uri\":\"{uri}\"}}")));
                let uri = uri.unwrap_or_else(|| panic!("{data}"));
                assert!(model.updated.remove(uri), "{uri} was not updated, or has been told of");
            }
        }
        let at = model.streams[stream].events.len();
        model.streams[stream].events.push(data);
        self.note(session, stream, at, id);
        self.model.places[place].next += 1;
    }

    fn nothing_to_tell(&self, session: usize, stream: usize) {
        let model = &self.model.sessions[session];
        if model.ready && self.model.newest(session) == Some(stream) {
            assert!(model.pending.is_empty(), "{:?} is not told", model.pending);
            assert!(model.updated.is_empty(), "{:?} is not told", model.updated);
        }
    }

    pub(super) fn say(&mut self, at: u8, len: u16) {
        let Some(at) = newest(&self.calls, at) else { return };
        let Call { session, stream, writer, .. } = &self.calls[at];
        let Some(writer) = writer else { return };
        let log = &mut self.model.sessions[*session].streams[*stream];
        let text = format!("\"{}{}\"", log.events.len(), "x".repeat(usize::from(len) % 600));
        writer.append(text.as_bytes());
        log.events.push(text);
    }

    pub(super) fn answer(&mut self, at: u8, len: u16) {
        let Some(at) = newest(&self.calls, at) else { return };
        let (session, stream) = (self.calls[at].session, self.calls[at].stream);
        let Some(writer) = self.calls[at].writer.take() else { return };
        let text = format!("\"answer{}\"", "y".repeat(usize::from(len) % 2_000));
        let mut instead = None;
        writer.answer(text.as_bytes(), |most| {
            assert!(self.model.tight && most >= 20);
            instead = Some("\"too long\"".to_owned());
            b"\"too long\"".to_vec()
        });
        let log = &mut self.model.sessions[session].streams[stream];
        (log.instead, log.permit) = (instead, false);
        log.events.push(text);
        self.model.finish(session, stream, true);
    }

    pub(super) fn cut(&mut self, at: u8) {
        let Some(at) = newest(&self.calls, at) else { return };
        let Call { session, stream, writer: Some(writer), .. } = &self.calls[at] else { return };
        writer.cut(7, None);
        let may = self.model.may_detach(*session);
        let ended = self.model.sessions[*session].ended;
        let log = &mut self.model.sessions[*session].streams[*stream];
        if !ended && log.reader.is_some() {
            log.permit |= may;
            if log.permit {
                self.model.cut(*session, *stream);
            }
        }
    }

    pub(super) fn leave(&mut self, at: u8) {
        let Some(at) = newest(&self.readers, at) else { return };
        let Held { session, stream, place, reader } = self.readers.remove(at);
        drop(reader);
        self.model.leave(session, stream, place);
    }

    /// A client comes back with an id that it has seen.
    pub(super) fn back(&mut self, session: u8, event: u8) {
        let Some((at, session)) = self.session(session) else { return };
        let seen: Vec<EventId> =
            self.seen.iter().filter(|(other, _)| *other == at).map(|(_, id)| *id).collect();
        let Some(id) = newest(&seen, event).map(|at| seen[at]) else { return };
        let mut text = Vec::new();
        id.write(&mut text);
        let resumed = session.resume(&text);
        let model = &self.model.sessions[at];
        let stream = model.stream(id.stream).expect("it was seen");
        let log = &model.streams[stream];
        let next = id.event as usize + 1;
        match resumed {
            Resumed::Lost => assert!(model.ended || self.model.tight, "{id:?} is lost"),
            Resumed::Over => {
                assert!(!model.ended && !log.open && !log.listens && next == log.events.len(), "{id:?}");
            }
            Resumed::Reader(reader) => {
                assert!(!model.ended && (log.open || log.listens || next < log.events.len()), "{id:?}");
                let place = self.model.resume(at, stream, next);
                self.readers.push(Held { session: at, stream, place, reader });
            }
        }
    }

    /// A client comes back with an id that it makes up.
    pub(super) fn stray(&mut self, session: u8, stream: u8, event: u8) {
        let Some((at, session)) = self.session(session) else { return };
        let tag = self.seen.iter().find(|(other, _)| *other == at).map_or(7, |(_, id)| id.tag ^ 1);
        let mut text = Vec::new();
        EventId { tag, stream: stream.into(), event: event.into() }.write(&mut text);
        let resumed = session.resume(&text);
        // The tag of a session that nothing was read on could be hit by chance.
        assert!(matches!(resumed, Resumed::Lost), "{resumed:?}");
        text[0] = b'X';
        assert!(matches!(session.resume(&text), Resumed::Lost));
    }
}
