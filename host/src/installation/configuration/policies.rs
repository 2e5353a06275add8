//! What becomes of a key whose contributor failed.

use std::time::Duration;

use super::reader::Setting;
use super::units::DAY;
use crate::error::Result;
use crate::registry::{OnFailure, ValueLimits};
use crate::text::shown;

/// The policies that are a word.
const WORDS: [OnFailure; 2] = [OnFailure::Fail, OnFailure::Omit];

/// The longest that a value may be gone on with.
const LONGEST_LAST_GOOD: Duration = DAY;

/// An example of it.
const TEN_MINUTES: Duration = Duration::from_secs(600);

pub(super) fn of_contributor(setting: &Setting<'_>) -> Result<OnFailure> {
    const EXPECTED: &str = r#""fail", "omit" or { last-good = "10m" }"#;
    if !setting.is_table() {
        return word(setting, EXPECTED);
    }
    let last_good = setting.read(|section| {
        let longest = section.setting("last-good").map(|setting| last_good(&setting)).transpose()?;
        section.refuse("value", |_| {
            setting.wrong("has a value, which single keys have: set on-failure in [contributors.NAME.keys.KEY]")
        })?;
        Ok(longest)
    })?;
    last_good.ok_or_else(|| setting.expected("an empty table", EXPECTED, r#""omit""#))
}

pub(super) fn of_key(setting: &Setting<'_>, values: ValueLimits) -> Result<OnFailure> {
    const EXPECTED: &str = r#""fail", "omit", { last-good = "10m" } or { value = "…" }"#;
    if !setting.is_table() {
        return word(setting, EXPECTED);
    }
    let (value, last_good) = setting.read(|section| {
        let value = section.setting("value").map(|value| stand_in(&value, values)).transpose()?;
        Ok((value, section.setting("last-good").map(|setting| last_good(&setting)).transpose()?))
    })?;
    match (value, last_good) {
        (Some(value), None) => Ok(OnFailure::Value(value)),
        (None, Some(last_good)) => Ok(last_good),
        (None, None) => Err(setting.expected("an empty table", EXPECTED, r#"{ value = "unknown" }"#)),
        (Some(_), Some(_)) => {
            Err(setting.wrong("has both value and last-good, and one alone can stand in: remove the other"))
        }
    }
}

fn word(setting: &Setting<'_>, expected: &str) -> Result<OnFailure> {
    let example = r#""omit""#;
    let text = setting.text(expected, example)?;
    let policy = WORDS.into_iter().find(|policy| policy.as_str() == text);
    policy.ok_or_else(|| setting.expected(&format!("\"{}\"", shown(text)), expected, example))
}

fn last_good(setting: &Setting<'_>) -> Result<OnFailure> {
    setting.time(TEN_MINUTES, Duration::from_millis(1), LONGEST_LAST_GOOD).map(OnFailure::LastGood)
}

/// A value that can be in an overlay. No message says what it is: it stands in for one that may be sensitive.
fn stand_in(setting: &Setting<'_>, values: ValueLimits) -> Result<String> {
    let value = setting.text("a string", r#""unknown""#)?;
    if value.contains('\0') {
        return Err(setting.wrong("has a NUL character, which no environment variable can hold: leave it out"));
    }
    if value.len() > values.bytes {
        return Err(setting.wrong(format!(
            "has {} bytes and the limit \"value\" is {}: shorten it, or allow more",
            value.len(),
            values.bytes
        )));
    }
    Ok(value.to_owned())
}
