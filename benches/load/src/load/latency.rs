//! Times, counted in classes less than one per cent wide.

use std::time::Duration;

/// Classes for each doubling.
const STEPS: u64 = 128;

#[derive(Debug, Clone)]
pub(crate) struct Latency {
    counts: Vec<u64>,
    total: u64,
}

impl Latency {
    pub(crate) fn new() -> Self {
        Self { counts: vec![0; 64 * STEPS as usize], total: 0 }
    }

    pub(crate) fn add(&mut self, time: Duration) {
        self.counts[class(time.as_nanos() as u64)] += 1;
        self.total += 1;
    }

    /// The time that such a share of all stay within, in microseconds.
    pub(crate) fn share(&self, share: f64) -> f64 {
        let wanted = (self.total as f64 * share).ceil() as u64;
        let mut seen = 0;
        for (class, count) in self.counts.iter().enumerate() {
            seen += count;
            if *count > 0 && seen >= wanted {
                return middle(class) / 1e3;
            }
        }
        0.0
    }
}

/// Below [`STEPS`] every nanosecond is a class; above, the leading bits are.
fn class(nanoseconds: u64) -> usize {
    if nanoseconds < STEPS {
        return nanoseconds as usize;
    }
    let shift = u64::from(nanoseconds.ilog2() - STEPS.ilog2());
    (shift * STEPS + (nanoseconds >> shift)) as usize
}

fn middle(class: usize) -> f64 {
    let class = class as u64;
    if class < STEPS {
        return class as f64;
    }
    let shift = class / STEPS - 1;
    let begin = (class % STEPS + STEPS) << shift;
    begin as f64 + (1u64 << shift) as f64 / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_narrow_and_in_order() {
        let mut last = 0;
        for nanoseconds in (0..4096).chain((12..62).flat_map(|bit| {
            let power = 1u64 << bit;
            [power - 1, power, power + power / 3]
        })) {
            let class = class(nanoseconds);
            assert!(class >= last, "{nanoseconds}");
            last = class;
            let off = (middle(class) - nanoseconds as f64).abs();
            assert!(off <= nanoseconds as f64 / 100.0 + 1.0, "{nanoseconds}: {}", middle(class));
        }
    }

    #[test]
    fn shares_are_those_of_what_was_added() {
        let mut latency = Latency::new();
        for microseconds in 1..=1000 {
            latency.add(Duration::from_micros(microseconds));
        }
        for (share, wanted) in [(0.5, 500.0), (0.99, 990.0), (1.0, 1000.0)] {
            assert!((latency.share(share) - wanted).abs() < wanted / 100.0, "{share}");
        }
    }
}
