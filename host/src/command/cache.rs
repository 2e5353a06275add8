//! `cache`: how much compiled code is kept, and how to be rid of it.

use std::process::ExitCode;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::Result;
use dsh_env::Host;
use dsh_env::sandbox::CacheInfo;
use dsh_env::text::shown;

use super::arguments::{CacheArguments, CacheCommand};
use super::composition;
use super::output::{NAME, Output, styled};

/// Runs a command about compiled code.
pub(crate) fn run(arguments: &CacheArguments, output: &Output) -> Result<ExitCode> {
    match &arguments.command {
        CacheCommand::Info(place) => {
            let info = Host::compiled_code(&composition::place(place))?.info()?;
            if output.is_json() { output.json(&info)? } else { output.text(&sentences(&info))? }
        }
        CacheCommand::Clear(place) => {
            let folder = Host::compiled_code(&composition::place(place))?;
            let cleared = folder.clear()?;
            if output.is_json() {
                output.json(&cleared)?;
            } else {
                let (entries, bytes) = (count(cleared.entries), size(cleared.bytes));
                output.text(&format!(
                    "removed {entries}, {bytes}, from {}",
                    shown(&folder.path().display().to_string())
                ))?;
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn sentences(info: &CacheInfo) -> String {
    let rows = [
        ("folder", shown(&info.folder.display().to_string())),
        ("kept", format!("{}, {} of at most {}", count(info.entries), size(info.bytes), size(info.bound))),
        ("used", uses(info).unwrap_or_else(|| "never".to_owned())),
    ];
    let lines = rows.iter().map(|(name, value)| format!("{} {value}", styled(NAME, &format!("{name:<10}"))));
    lines.collect::<Vec<_>>().join("\n")
}

fn uses(info: &CacheInfo) -> Option<String> {
    let (oldest, newest) = (ago(info.oldest_use?), ago(info.newest_use?));
    Some(if oldest == newest { oldest } else { format!("between {oldest} and {newest}") })
}

fn count(entries: usize) -> String {
    if entries == 1 { "1 component".to_owned() } else { format!("{entries} components") }
}

/// Bytes, rounded.
pub(super) fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let mut scaled = bytes as f64 / 1024.0;
    for unit in UNITS {
        if scaled < 1023.95 {
            let rounded = format!("{scaled:.1}");
            return format!("{} {unit}", rounded.strip_suffix(".0").unwrap_or(&rounded));
        }
        scaled /= 1024.0;
    }
    format!("{bytes} B")
}

/// A time in the past, in its largest unit.
fn ago(milliseconds: u64) -> String {
    let then = UNIX_EPOCH.checked_add(Duration::from_millis(milliseconds)).unwrap_or(UNIX_EPOCH);
    let seconds = SystemTime::now().duration_since(then).unwrap_or_default().as_secs();
    for (unit, length) in [("day", 24 * 60 * 60), ("hour", 60 * 60), ("minute", 60)] {
        let number = seconds / length;
        if number > 0 {
            return format!("{number} {unit}{} ago", if number == 1 { "" } else { "s" });
        }
    }
    "just now".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_rounded() {
        let sizes = [0, 1023, 1024, 1536, 16 << 20, (1 << 30) - 1, 1 << 30, 1 << 40, u64::MAX].map(size);
        let expected =
            ["0 B", "1023 B", "1 KiB", "1.5 KiB", "16 MiB", "1 GiB", "1 GiB", "1 TiB", "18446744073709551615 B"];
        assert_eq!(sizes, expected);
    }

    #[test]
    fn times_are_in_the_past_whatever_the_clock_says() {
        let now = || u64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis()).unwrap();
        let minutes = |minutes: u64| ago(now() - minutes * 60_000 - 1000);
        assert_eq!(
            [minutes(0), minutes(1), minutes(59), minutes(60), minutes(3000)],
            ["just now", "1 minute ago", "59 minutes ago", "1 hour ago", "2 days ago"]
        );
        assert_eq!([ago(now() + 5000), ago(u64::MAX)], ["just now", "just now"]);
    }
}
