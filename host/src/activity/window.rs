//! The last minute: how often something happened and how long it took.
//!
//! Time is cut into slices that begin at multiples of their length, and a slice that is over is used again for a
//! later one. Times fall into buckets of which each is at most a quarter wider than its lower bound.

use std::time::Duration;

/// Slices of a second: ten that are over, and the one that is not.
const SECONDS: usize = 11;

/// Slices of ten seconds: six that are over, and the one that is not.
const TENS: usize = 7;

/// Times below 2^8 ns are one bucket.
const FIRST_OCTAVE: u32 = 8;

/// From 2^8 to 2^33 ns, which is 8.6 s and longer than any collection, in quarters of powers of two.
const BUCKETS: usize = 1 + 25 * 4;

pub(super) struct Window {
    seconds: [Second; SECONDS],
    tens: [Ten; TENS],
}

#[derive(Clone, Copy, Default)]
struct Second {
    number: u64,
    count: u32,
}

#[derive(Clone, Copy)]
struct Ten {
    number: u64,
    counts: [u32; BUCKETS],
}

impl Default for Window {
    fn default() -> Self {
        Self { seconds: [Second::default(); SECONDS], tens: [Ten { number: 0, counts: [0; BUCKETS] }; TENS] }
    }
}

impl Window {
    pub(super) fn count(&mut self, took: Duration, now: Duration) {
        let number = now.as_secs();
        if let Some(second) = self.seconds.get_mut(slot(number, SECONDS)) {
            if second.number < number {
                *second = Second { number, count: 0 };
            }
            second.count = second.count.saturating_add(1);
        }
        let number = number / 10;
        if let Some(ten) = self.tens.get_mut(slot(number, TENS)) {
            if ten.number < number {
                *ten = Ten { number, counts: [0; BUCKETS] };
            }
            if let Some(count) = ten.counts.get_mut(bucket(took)) {
                *count = count.saturating_add(1);
            }
        }
    }

    /// How often a second, over the last ten seconds that are over, or those since the beginning.
    pub(super) fn per_second(&self, now: Duration) -> f64 {
        let current = now.as_secs();
        // In the first second there is nothing else to go by.
        let over = if current == 0 { 0..1 } else { current.saturating_sub(10)..current };
        let counts = self.seconds.iter().filter(|second| over.contains(&second.number));
        let count = counts.map(|second| f64::from(second.count)).sum::<f64>();
        count / over.count() as f64
    }

    /// The times, in microseconds, that these parts of the calls of the last minute or a little more stayed below;
    /// none where there was no call.
    pub(super) fn quantiles<const N: usize>(&self, parts: [f64; N], now: Duration) -> [Option<f64>; N] {
        let current = now.as_secs() / 10;
        let recent = current.saturating_sub(TENS as u64 - 1)..=current;
        let mut counts = [0_u64; BUCKETS];
        for ten in self.tens.iter().filter(|ten| recent.contains(&ten.number)) {
            for (sum, count) in counts.iter_mut().zip(ten.counts) {
                *sum += u64::from(count);
            }
        }
        let total = counts.iter().sum::<u64>() as f64;
        parts.map(|part| (total > 0.0).then(|| quantile(&counts, part * total) / 1000.0))
    }
}

/// Where a slice of this number is kept.
fn slot(number: u64, slots: usize) -> usize {
    usize::try_from(number % slots as u64).unwrap_or(0)
}

/// The time in nanoseconds that `rank` calls stayed below, as if those of one bucket were spread evenly in it.
fn quantile(counts: &[u64], rank: f64) -> f64 {
    let mut below = 0.0;
    let mut highest = 0.0;
    for (bucket, count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
        let count = *count as f64;
        let (lower, upper) = bounds(bucket);
        if below + count >= rank {
            return lower + (upper - lower) * ((rank - below) / count).clamp(0.0, 1.0);
        }
        below += count;
        highest = upper;
    }
    highest
}

fn bucket(took: Duration) -> usize {
    let nanos = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
    let Some(octave) = nanos.checked_ilog2().filter(|octave| *octave >= FIRST_OCTAVE) else { return 0 };
    let quarter = (nanos >> (octave - 2)) & 3;
    let bucket = 1 + (octave - FIRST_OCTAVE) as usize * 4 + quarter as usize;
    bucket.min(BUCKETS - 1)
}

/// From which to which time, in nanoseconds, a bucket reaches.
fn bounds(bucket: usize) -> (f64, f64) {
    let Some(past) = bucket.checked_sub(1) else { return (0.0, f64::from(1 << FIRST_OCTAVE)) };
    let (octave, quarter) = (past / 4, (past % 4) as f64);
    let step = 2_f64.powi(i32::try_from(octave).unwrap_or(0) + FIRST_OCTAVE as i32 - 2);
    ((4.0 + quarter) * step, (5.0 + quarter) * step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_time_is_within_the_bounds_of_its_bucket() {
        for nanos in (0..33).flat_map(|power| [1_u64 << power, (1 << power) + (1 << power) / 3, (2 << power) - 1]) {
            let (lower, upper) = bounds(bucket(Duration::from_nanos(nanos)));
            let nanos = nanos as f64;
            assert!(lower <= nanos && nanos < upper, "{nanos} is not in {lower}..{upper}");
            assert!(lower == 0.0 || upper / lower <= 1.25 + 1e-9, "{lower}..{upper} is too wide");
        }
        assert_eq!(bucket(Duration::MAX), BUCKETS - 1);
    }

    #[test]
    fn quantiles_are_near_those_of_the_times_themselves() {
        let mut window = Window::default();
        for micros in 1..=1000 {
            window.count(Duration::from_micros(micros), Duration::ZERO);
        }
        let [p50, p99] = window.quantiles([0.5, 0.99], Duration::from_secs(1)).map(Option::unwrap);
        assert!((480.0..520.0).contains(&p50), "{p50}");
        assert!((930.0..1050.0).contains(&p99), "{p99}");
    }

    #[test]
    fn what_is_over_a_minute_old_no_longer_counts() {
        let mut window = Window::default();
        window.count(Duration::from_millis(1), Duration::from_secs(5));
        assert!(window.quantiles([0.5], Duration::from_secs(65))[0].is_some());
        assert!(window.quantiles([0.5], Duration::from_secs(70))[0].is_none());
        // The slice that is used again has forgotten what it held.
        window.count(Duration::from_micros(1), Duration::from_secs(75));
        assert!(window.quantiles([1.0], Duration::from_secs(75))[0].unwrap() < 2.0);
    }

    #[test]
    fn the_rate_is_of_the_last_ten_seconds_that_are_over() {
        let mut window = Window::default();
        window.count(Duration::ZERO, Duration::from_millis(300));
        assert_eq!(window.per_second(Duration::from_millis(400)), 1.0);
        for second in 0..30 {
            for _ in 0..4 {
                window.count(Duration::ZERO, Duration::from_secs(second));
            }
        }
        assert_eq!(window.per_second(Duration::from_secs(30)), 4.0);
        assert_eq!(window.per_second(Duration::from_secs(35)), 2.0);
        assert_eq!(window.per_second(Duration::from_secs(60)), 0.0);
    }
}
