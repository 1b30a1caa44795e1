//! When a worker has too much to do. A pulse that is asked for every few milliseconds waits like everybody else until all that was ready
//! before it has had its turn; how late it comes is how long a ready connection waits. That is looked at when the pulse comes, and on the
//! way there: a turn that is going to last for seconds is seen while it does.
//!
//! No figure has to be found by trial, as a number of requests would have to be: calls cost what they cost, and a turn is cut where its
//! time is over. Nobody is turned away over one handler that holds its worker up, however often it does, nor over one burst: what counts
//! is lateness that lasts, without the longest single piece of each turn.

/// How long after the last one the pulse is due, in milliseconds.
pub const PERIOD_MS: u64 = 10;
/// What is no lateness: timers go off on the millisecond after, and the clock is cut to milliseconds.
const SLACK_MS: u64 = 2;
/// How long lateness must last before anybody is turned away, in delays.
const LASTING: u64 = 3;
/// How long after the last late moment turns are still cut: longer than those who were turned away are told to stay away, so that all of
/// them together do not find an open door.
const MEMORY_MS: u64 = 1_500;
/// What every turn admits, however late it is.
const LEAST: u32 = 2;

/// What a caller has been admitted in this turn: the less, the longer the door stays open for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Had {
    /// Its address hardly anything.
    Little,
    /// Its connection nothing.
    Nothing,
    /// Something.
    Something,
}

/// The turns of one worker, in milliseconds of its clock.
#[derive(Debug)]
pub struct Turns {
    /// How late the pulse may be; 0 for no bound.
    delay: u64,
    /// When the pulse is due; `None` while nobody asks for it.
    due: Option<u64>,
    /// When was last looked.
    seen: u64,
    /// Who was admitted since the turn has begun, of those who were looked at.
    admitted: u32,
    /// The longest piece of time between two looks of this turn.
    longest: u64,
    /// Whether the turn before was long, whatever it was that took its time: then this one is looked at closely, lest what many have done
    /// between two looks is taken for a single piece.
    wary: bool,
    /// Since when it has been late, turn after turn, without the longest piece of each.
    late_since: Option<u64>,
    /// While turns are cut: until when.
    cut_until: Option<u64>,
    /// The turn's number.
    number: u32,
}

impl Turns {
    /// Turns that may be late by `delay`.
    pub const fn new(delay: u64) -> Self {
        Self {
            delay,
            due: None,
            seen: 0,
            admitted: 0,
            longest: 0,
            wary: false,
            late_since: None,
            cut_until: None,
            number: 0,
        }
    }

    /// The turn's number.
    pub const fn number(&self) -> u32 {
        self.number
    }

    /// Whether no turn has begun.
    pub const fn is_resting(&self) -> bool {
        self.due.is_none()
    }

    /// A turn begins: the pulse is asked for.
    pub fn begin(&mut self, now: u64) {
        self.due = Some(now + PERIOD_MS + SLACK_MS);
        self.seen = now;
        self.longest = 0;
        self.admitted = 0;
        self.number = self.number.wrapping_add(1);
        self.cut_until = self.cut_until.filter(|until| now < *until);
    }

    /// The pulse has come. Without `again` it is not asked for until somebody comes.
    pub fn pulse(&mut self, now: u64, again: bool) {
        let late = self.look(now).unwrap_or(0);
        self.wary = again && late > self.delay / 2;
        if !again || late.saturating_sub(self.longest) <= self.delay {
            self.late_since = None;
        }
        self.begin(now);
        if !again {
            self.due = None;
        }
    }

    /// Whether somebody is admitted. What it has had in this turn is asked for only where that matters.
    pub fn admits(&mut self, now: u64, had: impl FnOnce() -> Had) -> bool {
        let Some(late) = self.look(now) else { return true };
        if self.cuts() && self.admitted >= LEAST && late > self.delay {
            let most = match had() {
                Had::Little => 2 * self.delay,
                Had::Nothing => self.delay + self.delay / 2,
                Had::Something => self.delay,
            };
            if late > most {
                return false;
            }
        }
        self.admitted = self.admitted.saturating_add(1);
        true
    }

    /// Whether this turn is cut.
    pub const fn cuts(&self) -> bool {
        self.cut_until.is_some()
    }

    /// Whether everybody must be looked at, rather than one in a few.
    pub fn is_watchful(&self) -> bool {
        let late = self.due.is_some_and(|due| self.seen.saturating_sub(due) > self.delay / 2);
        self.delay > 0 && (late || self.wary || self.late_since.is_some() || self.cuts())
    }

    /// Looks how late the pulse is by now.
    fn look(&mut self, now: u64) -> Option<u64> {
        let due = self.due.filter(|_| self.delay > 0)?;
        self.longest = self.longest.max(now.saturating_sub(self.seen));
        self.seen = now;
        let late = now.saturating_sub(due);
        let crowd = late.saturating_sub(self.longest);
        if crowd > self.delay {
            let since = *self.late_since.get_or_insert(due);
            let lasted = now.saturating_sub(since).saturating_sub(self.longest);
            if lasted > LASTING * self.delay {
                self.cut_until = Some(now + MEMORY_MS);
            }
        }
        // A turn that has been cut ends with a piece that may be long; still it was many who have made it late.
        if self.cuts() && late > self.delay && crowd > self.delay / 3 {
            self.cut_until = Some(now + MEMORY_MS);
        }
        Some(late)
    }
}

#[cfg(test)]
#[path = "turns/tests.rs"]
mod tests;
