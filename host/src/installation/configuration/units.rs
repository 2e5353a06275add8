//! Times and sizes as people write them: a whole number and a unit.

use std::time::Duration;

/// The units of times, each with its milliseconds; one that ends another comes after it.
const TIMES: [(&str, u64); 4] = [("ms", 1), ("s", 1000), ("m", 60 * 1000), ("h", 60 * 60 * 1000)];

/// As long as anything but a time to live may be.
pub(super) const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// The units of sizes, each with its bytes; one that ends another comes after it.
const SIZES: [(&str, u64); 4] = [("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("B", 1)];

/// What a time has to look like, for people.
pub(super) const TIME_SYNTAX: &str = "a time in ms, s, m or h";

/// What a size has to look like, for people.
pub(super) const SIZE_SYNTAX: &str = "a size in B, KiB, MiB or GiB";

/// The time that `text` says, such as `100ms`. One that is too long to count is as long as can be counted.
pub(super) fn time(text: &str) -> Option<Duration> {
    amount(text, &TIMES).map(Duration::from_millis)
}

/// The bytes that `text` says, such as `64MiB`. A size that is too large to count is as large as can be counted.
pub(super) fn size(text: &str) -> Option<usize> {
    amount(text, &SIZES).map(|bytes| usize::try_from(bytes).unwrap_or(usize::MAX))
}

/// A time as it could be written in a configuration.
pub(super) fn show_time(time: Duration) -> String {
    show(u64::try_from(time.as_millis()).unwrap_or(u64::MAX), &TIMES)
}

/// A size as it could be written in a configuration.
pub(super) fn show_size(bytes: usize) -> String {
    show(u64::try_from(bytes).unwrap_or(u64::MAX), &SIZES)
}

fn amount(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let (number, scale) =
        units.iter().find_map(|(unit, scale)| text.strip_suffix(unit).map(|number| (number, *scale)))?;
    let digits = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| number.parse::<u64>().unwrap_or(u64::MAX).saturating_mul(scale))
}

/// In the largest unit that leaves no remainder.
fn show(amount: u64, units: &[(&str, u64)]) -> String {
    let fitting = units.iter().filter(|(_, scale)| amount.is_multiple_of(*scale) && (amount >= *scale || *scale == 1));
    match fitting.max_by_key(|(_, scale)| *scale) {
        Some((unit, scale)) => format!("{}{unit}", amount / scale),
        None => amount.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn times_have_a_unit() {
        assert_eq!(time("100ms"), Some(Duration::from_millis(100)));
        assert_eq!(time("1s"), Some(Duration::from_secs(1)));
        assert_eq!(time("2m"), Some(Duration::from_secs(120)));
        assert_eq!(time("24h"), Some(DAY));
        assert_eq!(time("0s"), Some(Duration::ZERO));
        for text in ["", "1", "s", "ms", "1 s", " 1s", "1s ", "-1s", "+1s", "1.5s", "1d", "1S", "1sm", "١s", "1_0s"] {
            assert_eq!(time(text), None, "{text:?}");
        }
    }

    #[test]
    fn sizes_have_a_unit_that_says_how_much_a_k_is() {
        assert_eq!(size("64MiB"), Some(64 << 20));
        assert_eq!(size("1KiB"), Some(1024));
        assert_eq!(size("2GiB"), Some(2 << 30));
        assert_eq!(size("7B"), Some(7));
        for text in ["", "64", "64MB", "64M", "64mib", "MiB", "1.5GiB", "1iB", "KB", "1 B"] {
            assert_eq!(size(text), None, "{text:?}");
        }
    }

    #[test]
    fn what_is_too_much_to_count_is_not_mistaken_for_little() {
        assert_eq!(time(&format!("{}m", "9".repeat(50))), Some(Duration::from_millis(u64::MAX)));
        assert_eq!(size("99999999999999GiB"), Some(usize::MAX));
    }

    #[test]
    fn what_is_shown_uses_the_largest_unit_that_fits() {
        let times = [0, 1, 100, 1000, 1500, 60_000, 90_000, 3_600_000].map(|ms| show_time(Duration::from_millis(ms)));
        assert_eq!(times, ["0ms", "1ms", "100ms", "1s", "1500ms", "1m", "90s", "1h"]);
        let sizes = [0, 7, 1024, 1536, 64 << 20, 1 << 30].map(show_size);
        assert_eq!(sizes, ["0B", "7B", "1KiB", "1536B", "64MiB", "1GiB"]);
    }

    proptest! {
        #[test]
        fn what_is_shown_can_be_written(amount in any::<u64>()) {
            prop_assert_eq!(time(&show_time(Duration::from_millis(amount))), Some(Duration::from_millis(amount)));
            prop_assert_eq!(size(&show_size(amount as usize)), Some(amount as usize));
        }

        #[test]
        fn no_text_panics(text in any::<String>()) {
            let _ = (time(&text), size(&text));
        }
    }
}
