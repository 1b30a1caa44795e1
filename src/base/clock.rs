//! Time as a value that is handed down, so that expiry can be tested without waiting.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// A monotonic clock in milliseconds since the clock was made. Sweepers, idle timers and `Retry-After` read only this.
#[derive(Debug, Clone)]
pub struct Clock(Source);

#[derive(Debug, Clone)]
enum Source {
    System(Instant),
    Manual(Arc<Hands>),
}

/// What a manual clock shows: the time that only moves on, and how far the time of day has been set apart from it.
#[derive(Debug, Default)]
struct Hands {
    now: AtomicU64,
    wall_ahead: AtomicI64,
}

impl Clock {
    /// The system's monotonic clock.
    #[must_use]
    pub fn system() -> Self {
        Self(Source::System(Instant::now()))
    }

    /// A clock that stands still until its handle moves it, and the handle.
    #[must_use]
    pub fn manual() -> (Self, ManualClock) {
        let hands = Arc::new(Hands::default());
        (Self(Source::Manual(Arc::clone(&hands))), ManualClock(hands))
    }

    /// Whether it stands still until it is moved.
    #[must_use]
    pub const fn is_manual(&self) -> bool {
        matches!(self.0, Source::Manual(_))
    }

    /// Milliseconds since the clock was made.
    #[must_use]
    pub fn now_ms(&self) -> u64 {
        match &self.0 {
            Source::System(start) => u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX),
            Source::Manual(hands) => hands.now.load(Ordering::Acquire),
        }
    }

    /// Milliseconds since the epoch: for times that other processes must understand.
    #[must_use]
    pub fn wall_ms(&self) -> u64 {
        match &self.0 {
            Source::System(_) => wall_ms(),
            Source::Manual(hands) => (MANUAL_EPOCH_MS + hands.now.load(Ordering::Acquire))
                .saturating_add_signed(hands.wall_ahead.load(Ordering::Acquire)),
        }
    }
}

/// When a manual clock was made, in milliseconds since the epoch.
const MANUAL_EPOCH_MS: u64 = 1_700_000_000_000;

/// Moves a manual [`Clock`].
#[derive(Debug, Clone)]
pub struct ManualClock(Arc<Hands>);

impl ManualClock {
    /// Moves the clock forward by `ms` milliseconds.
    pub fn advance_ms(&self, ms: u64) {
        self.0.now.fetch_add(ms, Ordering::AcqRel);
    }

    /// Sets the time of day forward or back, as somebody at the machine does; nothing else moves.
    pub fn set_wall_ms(&self, by: i64) {
        self.0.wall_ahead.fetch_add(by, Ordering::AcqRel);
    }
}

/// The length of a rendered date: `Sun, 06 Nov 1994 08:49:37 GMT`.
pub const DATE_LEN: usize = 29;

/// A cached HTTP date (RFC 9110 5.6.7), rendered again when the second changes.
#[derive(Debug, Clone, Default)]
pub struct DateCache(Option<Rendered>);

/// A date, and until when it is right.
#[derive(Debug, Clone)]
struct Rendered {
    text: [u8; DATE_LEN],
    until: Instant,
}

impl Rendered {
    fn at(now: Instant) -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let left = Duration::from_secs(1) - Duration::from_nanos(u64::from(since.subsec_nanos()));
        Self { text: render_date(since.as_secs()), until: now + left }
    }
}

impl DateCache {
    /// The date line's value for now.
    pub fn now(&mut self) -> &[u8; DATE_LEN] {
        self.at(Instant::now())
    }

    /// The same for somebody who knows what time it is: the system's clock is then asked once a second.
    pub fn at(&mut self, now: Instant) -> &[u8; DATE_LEN] {
        if self.0.as_ref().is_none_or(|date| date.until <= now) {
            self.0 = None;
        }
        &self.0.get_or_insert_with(|| Rendered::at(now)).text
    }
}

/// Renders seconds since the epoch as an IMF-fixdate.
#[must_use]
pub fn render_date(seconds: u64) -> [u8; DATE_LEN] {
    const DAYS: [&[u8; 3]; 7] = [b"Thu", b"Fri", b"Sat", b"Sun", b"Mon", b"Tue", b"Wed"];
    const MONTHS: [&[u8; 3]; 12] =
        [b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec"];
    let civil = Civil::from_seconds(seconds);
    let mut text = *b"Thu, 01 Jan 1970 00:00:00 GMT";
    text[..3].copy_from_slice(DAYS[usize::try_from(seconds / 86_400 % 7).unwrap_or(0)]);
    two_digits(&mut text[5..7], civil.day);
    text[8..11].copy_from_slice(MONTHS[usize::try_from(civil.month - 1).unwrap_or(0)]);
    two_digits(&mut text[12..14], civil.year / 100);
    two_digits(&mut text[14..16], civil.year % 100);
    two_digits(&mut text[17..19], civil.hour);
    two_digits(&mut text[20..22], civil.minute);
    two_digits(&mut text[23..25], civil.second);
    text
}

/// Renders milliseconds since the epoch as RFC 3339 with milliseconds, for the access log.
#[must_use]
pub fn render_timestamp(millis: u64) -> [u8; 24] {
    let civil = Civil::from_seconds(millis / 1000);
    let mut text = *b"1970-01-01T00:00:00.000Z";
    two_digits(&mut text[0..2], civil.year / 100);
    two_digits(&mut text[2..4], civil.year % 100);
    two_digits(&mut text[5..7], civil.month);
    two_digits(&mut text[8..10], civil.day);
    two_digits(&mut text[11..13], civil.hour);
    two_digits(&mut text[14..16], civil.minute);
    two_digits(&mut text[17..19], civil.second);
    let ms = millis % 1000;
    text[20] = digit(ms / 100);
    two_digits(&mut text[21..23], ms % 100);
    text
}

/// A cached timestamp for the access log, of which only the milliseconds are written anew while the second is the same.
#[derive(Debug, Clone, Default)]
pub struct TimestampCache(Option<(u64, [u8; 24])>);

impl TimestampCache {
    /// The timestamp of so many milliseconds since the epoch.
    pub fn at(&mut self, millis: u64) -> &[u8; 24] {
        let second = millis / 1000;
        if self.0.is_some_and(|(cached, _)| cached != second) {
            self.0 = None;
        }
        let (_, text) = self.0.get_or_insert_with(|| (second, render_timestamp(millis)));
        text[20] = digit(millis % 1000 / 100);
        two_digits(&mut text[21..23], millis % 1000);
        text
    }
}

/// Milliseconds since the epoch, for log lines.
#[must_use]
pub fn wall_ms() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(0))
}

struct Civil {
    year: u64,
    month: u64,
    day: u64,
    hour: u64,
    minute: u64,
    second: u64,
}

impl Civil {
    /// Days to civil date by the era method: 400 Gregorian years have 146,097 days.
    fn from_seconds(seconds: u64) -> Self {
        let days = seconds / 86_400 + 719_468;
        let (era, day_of_era) = (days / 146_097, days % 146_097);
        let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let shifted = (5 * day_of_year + 2) / 153;
        let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
        let rest = seconds % 86_400;
        Self {
            year: year_of_era + era * 400 + u64::from(month <= 2),
            month,
            day: day_of_year - (153 * shifted + 2) / 5 + 1,
            hour: rest / 3600,
            minute: rest / 60 % 60,
            second: rest % 60,
        }
    }
}

fn digit(value: u64) -> u8 {
    b'0' + u8::try_from(value % 10).unwrap_or(0)
}

fn two_digits(out: &mut [u8], value: u64) {
    out[0] = digit(value / 10);
    out[1] = digit(value);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_match_known_instants() {
        for (seconds, text) in [
            (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
            (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
            (951_782_399, "Mon, 28 Feb 2000 23:59:59 GMT"),
            (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"),
            (4_102_444_800, "Fri, 01 Jan 2100 00:00:00 GMT"),
        ] {
            assert_eq!(std::str::from_utf8(&render_date(seconds)).unwrap(), text);
        }
    }

    #[test]
    fn a_date_is_rendered_again_when_its_second_is_over() {
        let mut date = DateCache::default();
        let now = Instant::now();
        let first = *date.at(now);
        let until = date.0.as_ref().map(|date| date.until).unwrap();
        assert!(until > now && until <= now + Duration::from_secs(1));
        // A date of another time, to see whether it is kept.
        date.0.as_mut().unwrap().text = render_date(0);
        assert_eq!(*date.at(until - Duration::from_nanos(1)), render_date(0));
        assert_ne!(*date.at(until), render_date(0));
        assert_ne!(first, render_date(0));
    }

    #[test]
    fn timestamps_carry_milliseconds() {
        assert_eq!(&render_timestamp(784_111_777_042), b"1994-11-06T08:49:37.042Z");
        assert_eq!(&render_timestamp(999), b"1970-01-01T00:00:00.999Z");
        let mut cache = TimestampCache::default();
        for millis in [0, 1, 999, 1000, 1999, 2000, 784_111_777_042, 784_111_777_999, 784_111_778_000, 5] {
            assert_eq!(*cache.at(millis), render_timestamp(millis));
        }
    }

    #[test]
    fn manual_clock_moves_only_when_told() {
        let (clock, handle) = Clock::manual();
        assert_eq!(clock.now_ms(), 0);
        handle.advance_ms(1500);
        assert_eq!(clock.clone().now_ms(), 1500);
        let wall = clock.wall_ms();
        handle.set_wall_ms(-3_600_000);
        assert_eq!((clock.now_ms(), clock.wall_ms()), (1500, wall - 3_600_000));
    }
}
