//! A session in a few lines for people.

use dsh_env::sessions::{Location, LogHeader};
use dsh_env::text::shown;

use crate::command::output::{NAME, styled};

/// A name and what is to be said of it, if anything.
pub(super) type Row = (&'static str, Option<String>);

/// What the header says.
pub(super) fn describe(header: &LogHeader) -> Vec<Row> {
    let session = &header.session;
    vec![
        ("id", Some(session.id.to_string())),
        ("created", session.created_at.map(time)),
        ("cwd", session.cwd.clone()),
        ("parent", session.parent_session.clone()),
        ("copied", header.seed_length.map(|events| format!("{events} of the parent's events"))),
        ("origin", session.origin.clone()),
        ("depth", session.delegation_depth.filter(|depth| *depth > 0).map(|depth| depth.to_string())),
        ("preset", header.agent_preset.clone()),
    ]
}

/// A line for each row that says something; safe to show.
pub(super) fn lines(rows: &[Row]) -> String {
    let line = |(name, text): &Row| Some(format!("{} {}", styled(NAME, &format!("{name:<9}")), shown(text.as_ref()?)));
    rows.iter().filter_map(line).collect::<Vec<_>>().join("\n")
}

/// Where the log is, or that it has no file of its own.
pub(super) fn path(location: Option<&Location>) -> String {
    location.map_or_else(|| "in the database".to_owned(), |location| location.path.display().to_string())
}

/// Milliseconds since the Unix epoch as a date and a time of day, in UTC.
pub(super) fn time(milliseconds: u64) -> String {
    let seconds = milliseconds / 1000;
    let (year, month, day) = date(seconds / 86_400);
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}Z")
}

/// The date of a day since the Unix epoch. Counts from a March in eras of 400 years, so that the leap day is the
/// last of its year.
fn date(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    // Back from March to January.
    let (month, next_year) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    (400 * era + year_of_era + next_year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_dates_in_utc() {
        for (seconds, text) in [
            (0, "1970-01-01 00:00:00Z"),
            (68_169_599, "1972-02-28 23:59:59Z"),
            (68_169_600, "1972-02-29 00:00:00Z"),
            (951_782_400, "2000-02-29 00:00:00Z"),
            (1_700_000_000, "2023-11-14 22:13:20Z"),
            (4_107_542_400, "2100-03-01 00:00:00Z"),
        ] {
            assert_eq!(time(seconds * 1000), text);
        }
        assert!(time(u64::MAX).ends_with('Z'), "whatever a header says");
    }
}
