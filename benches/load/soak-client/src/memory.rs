//! Whether memory is flat: the line of least squares through its samples, and how sure that is.

use crate::server::Look;

/// Growth that is none, in KiB a minute: 1.2 MiB an hour.
pub(crate) const FLAT: f64 = 20.0;
/// Growth that is never put down to chance, however much the samples vary.
pub(crate) const STEEP: f64 = 100.0;
/// The shortest run whose slope is judged, in minutes: before that, pools still fill and the line says nothing. A shorter one is held to
/// [`LEAP`] alone.
pub(crate) const JUDGED: f64 = 10.0;
/// The most that memory may grow after the warm-up of a run that is too short for a slope, in KiB.
pub(crate) const LEAP: f64 = 131_072.0;
/// Into so many parts the time is cut to see how much the samples vary: those of one second know of those of the second before.
const PARTS: usize = 12;
/// How many standard errors are chance: of 100 slopes that are none, 95 lie within, with `PARTS - 2` degrees of freedom.
const CHANCE: f64 = 2.23;

/// A sample: minutes since the start, and what was seen.
pub(crate) type Sample = (f64, Look);

/// A line through points.
#[derive(Debug, Clone, Copy)]
struct Line {
    slope: f64,
    /// The standard error of the slope.
    error: f64,
}

fn line(points: &[(f64, f64)]) -> Line {
    let count = points.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / count;
    let (x, y) = (mean(|point| point.0), mean(|point| point.1));
    let square: f64 = points.iter().map(|point| (point.0 - x).powi(2)).sum();
    let slope = points.iter().map(|point| (point.0 - x) * (point.1 - y)).sum::<f64>() / square;
    let off: f64 = points.iter().map(|point| (point.1 - y - slope * (point.0 - x)).powi(2)).sum();
    Line { slope, error: (off / (count - 2.0) / square).sqrt() }
}

/// Means of so many parts of equal size.
fn parts(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let size = points.len() as f64 / PARTS as f64;
    let part = |at: usize| &points[(at as f64 * size) as usize..((at + 1) as f64 * size) as usize];
    let mean = |part: &[(f64, f64)]| {
        let sum = part.iter().fold((0.0, 0.0), |sum, point| (sum.0 + point.0, sum.1 + point.1));
        (sum.0 / part.len() as f64, sum.1 / part.len() as f64)
    };
    (0..PARTS).map(|at| mean(part(at))).collect()
}

/// What the samples come to.
#[derive(Debug, Clone)]
pub(crate) struct Memory {
    /// KiB a minute after the warm-up.
    pub(crate) slope: f64,
    /// How far chance moves the slope, at most.
    pub(crate) chance: f64,
    /// How many minutes the line is long.
    pub(crate) minutes: f64,
    /// Resident at the most, in KiB.
    pub(crate) peak: u64,
    /// Resident on the average, after the warm-up.
    pub(crate) mean: f64,
    /// The lowest and the highest number of open files, after the warm-up.
    pub(crate) files: (usize, usize),
    /// The same of threads.
    pub(crate) threads: (u64, u64),
    /// What is wrong with it.
    pub(crate) fault: Option<String>,
}

/// Judges the samples of a run of so many minutes. The first fifth is the warm-up. `None` where there are too few.
pub(crate) fn judge(samples: &[Sample], minutes: f64) -> Option<Memory> {
    let warm: Vec<&Sample> = samples.iter().filter(|(at, _)| *at >= minutes / 5.0).collect();
    if warm.len() < 2 * PARTS {
        return None;
    }
    let points: Vec<(f64, f64)> = warm.iter().map(|(at, look)| (*at, look.resident as f64)).collect();
    let slope = line(&points).slope;
    let chance = CHANCE * line(&parts(&points)).error;
    let length = points[points.len() - 1].0 - points[0].0;
    let judged = minutes >= JUDGED;
    let steep = slope > FLAT && (slope > chance || slope > STEEP);
    let fault = if judged && steep {
        Some(format!("memory grows by {slope:.1} KiB a minute, chance moves that by {chance:.1}"))
    } else if !judged && slope * length > LEAP {
        Some(format!("memory has grown by {:.0} KiB", slope * length))
    } else {
        None
    };
    let ends = |of: fn(&Look) -> u64| {
        let all = || warm.iter().map(|(_, look)| of(look));
        (all().min().unwrap_or_default(), all().max().unwrap_or_default())
    };
    let files = ends(|look| look.files as u64);
    Some(Memory {
        slope,
        chance,
        minutes: length,
        peak: samples.iter().map(|(_, look)| look.resident).max().unwrap_or_default(),
        mean: points.iter().map(|point| point.1).sum::<f64>() / points.len() as f64,
        files: (files.0 as usize, files.1 as usize),
        threads: ends(|look| look.threads),
        fault,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// Half an hour of samples, two seconds apart, that grow by `slope` and vary by `noise`, for some time in one direction.
    fn samples(slope: f64, noise: u64) -> Vec<Sample> {
        let mut random = Random::new(7);
        let mut drift = 0;
        let sample = |at: u64| {
            if at.is_multiple_of(10) {
                drift = random.within(0, noise);
            }
            let minutes = at as f64 / 30.0;
            let resident = 40_000 + (slope * minutes) as u64 + drift + random.within(0, noise / 4);
            (minutes, Look { resident, files: 100 + (at % 7) as usize, threads: 5 })
        };
        (0..900).map(sample).collect()
    }

    #[test]
    fn slopes_are_found_in_noise() {
        for (slope, noise, steep) in
            [(0.0, 0, false), (0.0, 8_000, false), (19.0, 10, false), (25.0, 10, true), (300.0, 8_000, true)]
        {
            let memory = judge(&samples(slope, noise), 30.0).unwrap();
            assert!((memory.slope - slope).abs() <= memory.chance + 0.5, "{slope} {noise}: {memory:?}");
            assert_eq!(memory.fault.is_some(), steep, "{slope} {noise}: {memory:?}");
        }
    }

    #[test]
    fn growth_before_the_end_of_the_warm_up_counts_for_nothing() {
        let mut samples = samples(0.0, 10);
        for (at, look) in &mut samples {
            if *at < 6.0 {
                look.resident /= 2;
            }
        }
        assert!(judge(&samples, 30.0).unwrap().slope.abs() < 1.0);
    }

    #[test]
    fn a_short_run_is_held_to_the_leap_alone() {
        let short = |slope: f64| {
            let mut samples = samples(slope / 30.0, 0);
            for (at, _) in &mut samples {
                *at /= 30.0;
            }
            judge(&samples, 1.0).unwrap().fault
        };
        assert_eq!(short(1_000.0), None);
        assert!(short(200_000.0).is_some());
    }

    #[test]
    fn too_few_samples_say_nothing() {
        assert!(judge(&samples(0.0, 0)[..20], 0.1).is_none());
    }

    #[test]
    fn ends_are_told() {
        let memory = judge(&samples(0.0, 0), 30.0).unwrap();
        assert_eq!((memory.files, memory.threads, memory.peak), ((100, 106), (5, 5), 40_000));
    }
}
