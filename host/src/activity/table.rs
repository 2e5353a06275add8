//! A snapshot as the texts of a table, for people.

use super::snapshot::{ActivitySnapshot, Recent};
use crate::text::shown_within;

/// The longest name that is shown; a contributor's has at most 63 bytes, but a snapshot may come from elsewhere.
const MAX_NAME_BYTES: usize = 64;

/// What a table of activity shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// The collections as a whole.
    pub collections: Row,
    /// The contributors, the busiest first.
    pub contributors: Vec<Row>,
}

/// One line of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The contributor; `collections` for all of them together.
    pub name: String,
    /// How often a second of late.
    pub per_second: String,
    /// The median time of late, with its unit; `-` where there was no call.
    pub p50: String,
    /// The 99th percentile.
    pub p99: String,
    /// How many there were since the beginning.
    pub total: String,
    /// How many of them failed, and in which ways, the most frequent first: `3 (timeout 2, trap 1)`.
    pub failed: String,
}

/// What a table of a snapshot shows: the collections, and the contributors, the busiest first.
#[must_use]
pub fn table(snapshot: &ActivitySnapshot) -> Table {
    let all = &snapshot.collections;
    let mut amiss: Vec<(&str, u64)> = counted(&all.failed);
    amiss.extend((all.degraded > 0).then_some(("degraded", all.degraded)));
    let collections = row("collections", all.ok, amiss, &all.recent);
    let mut busiest: Vec<_> = snapshot.contributors.iter().collect();
    busiest.sort_by(|a, b| b.recent.per_second.total_cmp(&a.recent.per_second).then_with(|| a.name.cmp(&b.name)));
    let contributors = busiest.into_iter().map(|it| row(&it.name, it.ok, counted(&it.failed), &it.recent)).collect();
    Table { collections, contributors }
}

fn counted(failed: &std::collections::BTreeMap<String, u64>) -> Vec<(&str, u64)> {
    failed.iter().map(|(code, count)| (code.as_str(), *count)).collect()
}

fn row(name: &str, ok: u64, mut amiss: Vec<(&str, u64)>, recent: &Recent) -> Row {
    amiss.sort_by(|(a, more), (b, less)| less.cmp(more).then_with(|| a.cmp(b)));
    let count: u64 = amiss.iter().map(|(_, count)| count).sum();
    let ways: Vec<_> =
        amiss.iter().map(|(code, count)| format!("{} {count}", shown_within(code, MAX_NAME_BYTES))).collect();
    Row {
        name: shown_within(name, MAX_NAME_BYTES),
        per_second: format!("{:.1}", recent.per_second),
        p50: time(recent.p50_us),
        p99: time(recent.p99_us),
        total: ok.saturating_add(count).to_string(),
        failed: if ways.is_empty() { count.to_string() } else { format!("{count} ({})", ways.join(", ")) },
    }
}

/// Three digits and a unit.
fn time(micros: Option<f64>) -> String {
    let Some(micros) = micros else { return "-".to_owned() };
    let (number, unit) = match micros {
        _ if micros < 1e3 => (micros, "µs"),
        _ if micros < 1e6 => (micros / 1e3, "ms"),
        _ => (micros / 1e6, "s"),
    };
    let decimals = if number < 10.0 { 2 } else { usize::from(number < 100.0) };
    format!("{number:.decimals$} {unit}")
}
