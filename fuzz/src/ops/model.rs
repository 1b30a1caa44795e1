//! Sessions as one would write them down.

use twolane::base::limits::Limits;
use twolane::events::topic::Topic;

use super::{IDLE, RETRY, Uris};

#[derive(Debug)]
pub struct Model {
    pub tight: bool,
    pub now: u64,
    pub draining: bool,
    pub sessions: Vec<ModelSession>,
    /// One for each call, in order.
    pub flights: Vec<ModelFlight>,
    /// One for each reader there ever was: later ones are newer.
    pub places: Vec<Place>,
    get_streams: usize,
    session_detached: u64,
    all_detached: u64,
}

#[derive(Debug)]
pub struct ModelSession {
    pub primed: bool,
    pub ended: bool,
    pub ready: bool,
    /// When it was last used; `None` once the last that was open has closed, until somebody looks.
    pub seen: Option<u64>,
    pub open: u64,
    pub permits: u64,
    pub streams: Vec<Stream>,
    /// Of streams that there have been.
    numbers: u64,
    /// Changes of lists that have not been told since they were marked.
    pub pending: Vec<Topic>,
    /// How often each may have been told.
    pub most: Vec<(Topic, u64)>,
    pub subscribed: Uris,
    pub updated: Uris,
}

#[derive(Debug)]
pub struct ModelFlight {
    pub session: usize,
    pub id: &'static str,
    pub stream: usize,
    pub known: bool,
    pub cancelled: bool,
}

#[derive(Debug)]
pub struct Stream {
    /// Its number in the ids of its events.
    number: u64,
    pub listens: bool,
    pub events: Vec<String>,
    /// The last event may be found as this instead.
    pub instead: Option<String>,
    pub open: bool,
    pub answered: bool,
    /// Who reads it: a place.
    pub reader: Option<usize>,
    pub permit: bool,
}

/// Where a reader is.
#[derive(Debug, Clone)]
pub struct Place {
    pub next: usize,
    pub cut: Option<usize>,
}

impl Model {
    pub fn new(tight: bool, limits: &Limits) -> Self {
        Self {
            tight,
            now: 0,
            draining: false,
            sessions: Vec::new(),
            flights: Vec::new(),
            places: Vec::new(),
            get_streams: limits.get_streams as usize,
            session_detached: limits.session_detached,
            all_detached: limits.detached,
        }
    }

    pub fn opened(&mut self, primed: bool) {
        self.sessions.push(ModelSession {
            primed,
            ended: false,
            ready: false,
            seen: Some(self.now),
            open: 0,
            permits: 0,
            streams: Vec::new(),
            numbers: 0,
            pending: Vec::new(),
            most: Topic::ALL.iter().map(|&topic| (topic, 0)).collect(),
            subscribed: Uris::new(),
            updated: Uris::new(),
        });
    }

    pub fn living(&self) -> usize {
        self.sessions.iter().filter(|session| !session.ended).count()
    }

    fn is_idle(&mut self, at: usize) -> bool {
        let now = self.now;
        let session = &mut self.sessions[at];
        session.open == 0 && now - *session.seen.get_or_insert(now) >= IDLE
    }

    pub fn find(&mut self, at: usize) -> bool {
        if !self.sessions[at].ended && self.is_idle(at) {
            self.end(at);
        }
        !self.sessions[at].ended
    }

    pub fn sweep(&mut self) -> u64 {
        let before = self.living();
        for at in 0..self.sessions.len() {
            self.find(at);
        }
        (before - self.living()) as u64
    }

    /// One thing less is open.
    pub fn closed(&mut self, at: usize) {
        let session = &mut self.sessions[at];
        session.open -= 1;
        if session.open == 0 {
            session.seen = None;
        }
    }

    pub fn end(&mut self, at: usize) {
        let session = &mut self.sessions[at];
        if std::mem::replace(&mut session.ended, true) {
            return;
        }
        session.streams.iter_mut().for_each(|stream| stream.permit = false);
        (session.subscribed, session.updated) = Default::default();
        for flight in self.flights.iter_mut().filter(|flight| flight.session == at && flight.known) {
            flight.cancelled = true;
        }
    }

    fn detached_of(&self, at: usize) -> u64 {
        let session = &self.sessions[at];
        session.permits + session.streams.iter().filter(|stream| stream.permit).count() as u64
    }

    pub fn detached(&self) -> u64 {
        (0..self.sessions.len()).map(|at| self.detached_of(at)).sum()
    }

    pub fn may_detach(&self, at: usize) -> bool {
        self.detached_of(at) < self.session_detached && self.detached() < self.all_detached
    }

    pub fn subscribed(&self) -> u64 {
        self.sessions.iter().flat_map(|session| &session.subscribed).map(|uri| uri.len() as u64 + 96).sum()
    }

    pub fn subscribe(&mut self, at: usize, uri: &'static str, limits: &Limits) -> Result<(), &'static str> {
        let all = self.subscribed() + uri.len() as u64 + 96;
        let session = &mut self.sessions[at];
        if session.ended || session.subscribed.contains(uri) {
            return Ok(());
        }
        if session.subscribed.len() as u64 >= limits.session_subscriptions {
            return Err("too many");
        }
        if all > limits.subscription_memory {
            return Err("no memory");
        }
        session.subscribed.insert(uri);
        Ok(())
    }

    pub fn unsubscribe(&mut self, at: usize, uri: &str) {
        self.sessions[at].subscribed.remove(uri);
        self.sessions[at].updated.remove(uri);
    }

    /// A stream that came too late takes a number all the same.
    pub fn missed(&mut self, at: usize) {
        self.sessions[at].numbers += 1;
    }

    /// A call becomes known.
    pub fn flies(&mut self, session: usize, stream: usize, id: &'static str) {
        self.flights.push(ModelFlight { session, id, stream, known: true, cancelled: false });
    }

    /// Opens a stream, and gives its number and the place of its reader.
    pub fn begin(&mut self, at: usize, listens: bool) -> (usize, usize) {
        let session = &mut self.sessions[at];
        let events = if session.primed { vec![String::new()] } else { Vec::new() };
        session.numbers += 1;
        session.streams.push(Stream {
            number: session.numbers,
            listens,
            events,
            instead: None,
            open: true,
            answered: false,
            reader: None,
            permit: false,
        });
        let stream = session.streams.len() - 1;
        if listens {
            // Whatever may not have been heard may be told again.
            session.most.iter_mut().for_each(|(_, most)| *most += 1);
            self.limit(at);
        }
        (stream, self.place(at, stream, 0))
    }

    fn listening(&self, at: usize) -> impl Iterator<Item = (usize, usize)> {
        self.sessions[at].streams.iter().enumerate().filter(|(_, stream)| stream.listens).filter_map(
            |(number, stream)| {
                let place = stream.reader?;
                self.places[place].cut.is_none().then_some((place, number))
            },
        )
    }

    /// The stream that is told what does not belong to a call.
    pub fn newest(&self, at: usize) -> Option<usize> {
        self.listening(at).max().map(|(_, number)| number)
    }

    fn limit(&mut self, at: usize) {
        if self.listening(at).count() >= self.get_streams {
            let (_, oldest) = self.listening(at).min().expect("there is one");
            self.cut(at, oldest);
        }
    }

    pub fn cut(&mut self, at: usize, number: usize) {
        let stream = &self.sessions[at].streams[number];
        if let Some(place) = stream.reader {
            self.places[place].cut.get_or_insert(stream.events.len());
        }
    }

    fn place(&mut self, at: usize, number: usize, next: usize) -> usize {
        self.places.push(Place { next, cut: None });
        let place = self.places.len() - 1;
        let session = &mut self.sessions[at];
        session.open += 1;
        let stream = &mut session.streams[number];
        stream.reader = Some(place);
        stream.permit = false;
        if stream.listens && self.draining {
            self.cut(at, number);
        }
        place
    }

    /// A client comes back to a stream, behind so many events.
    pub fn resume(&mut self, at: usize, number: usize, next: usize) -> usize {
        let stream = &mut self.sessions[at].streams[number];
        stream.open |= stream.listens;
        if stream.listens && stream.reader.is_none() {
            self.limit(at);
        }
        self.place(at, number, next)
    }

    /// A reader goes.
    pub fn leave(&mut self, at: usize, number: usize, place: usize) {
        let may = self.may_detach(at);
        let session = &mut self.sessions[at];
        let stream = &mut session.streams[number];
        if stream.reader == Some(place) && !session.ended {
            stream.reader = None;
            session.most.iter_mut().for_each(|(_, most)| *most += 1);
            if stream.listens {
                stream.open = false;
            } else if stream.open && !stream.permit {
                stream.permit = may;
                if !may {
                    let gone = |flight: &&mut ModelFlight| flight.session == at && flight.stream == number;
                    self.flights.iter_mut().filter(gone).for_each(|flight| flight.cancelled = true);
                }
            }
        }
        self.closed(at);
    }

    pub fn finish(&mut self, at: usize, number: usize, answered: bool) {
        let stream = &mut self.sessions[at].streams[number];
        (stream.open, stream.answered, stream.permit) = (false, answered, false);
    }

    pub fn drain(&mut self) {
        self.draining = true;
        for at in 0..self.sessions.len() {
            let listening: Vec<usize> = self.listening(at).map(|(_, number)| number).collect();
            if !self.sessions[at].ended {
                listening.into_iter().for_each(|number| self.cut(at, number));
            }
        }
    }
}

impl ModelSession {
    pub fn number(&self, stream: usize) -> u64 {
        self.streams[stream].number
    }

    pub fn stream(&self, number: u64) -> Option<usize> {
        self.streams.iter().position(|stream| stream.number == number)
    }

    pub fn marked(&mut self, topics: impl Iterator<Item = Topic>) {
        for topic in topics {
            if !self.pending.contains(&topic) {
                self.pending.push(topic);
            }
            self.most.iter_mut().filter(|(other, _)| *other == topic).for_each(|(_, most)| *most += 1);
        }
    }

    /// A change of a list is told.
    pub fn told(&mut self, topic: Topic) {
        self.pending.retain(|other| *other != topic);
        let (_, most) = self.most.iter_mut().find(|(other, _)| *other == topic).expect("a topic");
        assert!(*most > 0, "{topic:?} is told too often");
        *most -= 1;
    }
}

/// What a reader that the server has sent away is told.
pub const AWAY: u64 = RETRY;
