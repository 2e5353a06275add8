//! `why`: where one variable comes from, or why it is absent.

mod recall;

use std::process::ExitCode;

use anyhow::Result;
use dsh_env::contract::{HOST, Key, is_managed_name};
use dsh_env::environment::is_credential_name;
use dsh_env::installation::nearest;
use dsh_env::registry::Overlay;
use dsh_env::text::shown;
use dsh_env::{Code, Error, Host};
use serde::Serialize;

use super::arguments::WhyArguments;
use super::composition;
use super::output::{NAME, Output, styled};

#[derive(Serialize)]
struct Answer {
    key: String,
    present: bool,
    /// Why it is absent, or stands in for the real value.
    reason: Option<String>,
    /// The value; none if it is absent or sensitive.
    value: Option<String>,
    sensitive: bool,
    description: Option<String>,
    /// The contributor that owns the key, or `host`; none if nobody does.
    contributor: Option<String>,
    file: Option<String>,
    digest: Option<String>,
    /// The policy for it when its contributor fails: `fail`, `omit` or `value`.
    policy: Option<&'static str>,
    /// How long the contributor took, in microseconds.
    micros: Option<u64>,
    /// What the overlay displaced.
    displaced: Vec<Displaced>,
}

/// An inherited variable that a command does not get.
#[derive(Serialize)]
struct Displaced {
    name: String,
    /// None where it must not be shown.
    value: Option<String>,
}

/// Explains one key.
pub(crate) fn run(arguments: &WhyArguments, output: &Output) -> Result<ExitCode> {
    let key = Key::new(&arguments.key).map_err(|error| Error::host(Code::InvalidConfiguration, error.message()))?;
    if let Some(call) = &arguments.call {
        return recall::run(arguments, call, &key, output);
    }
    let host = composition::host(&arguments.host)?;
    let execution = composition::execution(&arguments.execution)?;
    let overlay = host.registry().collect(&execution)?;
    let answer = explain(&host, &overlay, &key);
    if output.is_json() {
        output.json(&answer)?
    } else {
        output.text(&sentences(&answer))?
    }
    Ok(ExitCode::SUCCESS)
}

fn explain(host: &Host, overlay: &Overlay, key: &Key) -> Answer {
    let listed = host.registry().list();
    let declared = listed.iter().find(|variable| variable.key == key.as_str());
    let owner = declared.map(|variable| variable.contributor.as_str());
    let report = overlay.reports().iter().find(|report| Some(report.name.as_str()) == owner);
    let affected = report.and_then(|report| report.affected.iter().find(|affected| affected.key == *key));
    let contributors = host.contributors();
    let file = contributors.iter().find(|contributor| Some(contributor.name().as_str()) == owner);
    let missing = host.registry().missing().into_iter().find(|missing| missing.keys.contains(key));
    let entry = overlay.get(key.as_str());
    let sensitive = declared.is_some_and(|variable| variable.sensitive);
    let reason = match (entry, owner, &missing) {
        (_, Some(_), _) if affected.is_some() => affected.map(|it| format!("its policy took effect: {}", it.error)),
        (Some(_), ..) => None,
        (None, Some(HOST), _) => {
            Some("this does not hold: no agent owns the execution, or nothing is amiss".to_owned())
        }
        (None, Some(owner), _) => Some(format!("{owner} had nothing to say about this execution")),
        (None, None, Some(missing)) => Some(format!("its contributor is missing: {}", missing.error)),
        (None, None, None) => Some(nobody(key, listed.iter().map(|variable| variable.key.as_str()))),
    };
    let missing = missing.filter(|_| owner.is_none());
    let missing_file = missing.as_ref().and_then(|missing| missing.file.as_deref());
    let file_path = file.map(|contributor| contributor.file()).or(missing_file);
    Answer {
        key: key.to_string(),
        present: entry.is_some(),
        reason,
        value: entry.filter(|_| !sensitive).map(|entry| entry.value.expose().to_owned()),
        sensitive,
        description: declared.map(|variable| variable.description.clone()),
        contributor: owner.map(str::to_owned).or_else(|| missing.as_ref().map(|missing| missing.label.clone())),
        file: file_path.map(|file| file.display().to_string()),
        digest: file.map(|contributor| contributor.digest().to_owned()),
        policy: host.registry().policy(key),
        micros: report.map(|report| u64::try_from(report.took.as_micros()).unwrap_or(u64::MAX)),
        // Nobody knows whether it is sensitive what a contributor that is missing would own.
        displaced: displaced(key, sensitive || missing.is_some()),
    }
}

fn nobody<'k>(key: &Key, known: impl Iterator<Item = &'k str>) -> String {
    match nearest(key.as_str(), known) {
        Some(nearest) => format!("no contributor declares {key}; did you mean {nearest}?"),
        None => format!("no contributor declares {key}"),
    }
}

/// The inherited variables of this name, in any case.
fn displaced(key: &Key, sensitive: bool) -> Vec<Displaced> {
    let inherited = std::env::vars_os().filter(|(name, _)| {
        let name = name.as_encoded_bytes();
        is_managed_name(name) && name.eq_ignore_ascii_case(key.as_str().as_bytes())
    });
    inherited
        .map(|(name, value)| {
            let hidden = sensitive || is_credential_name(name.as_encoded_bytes());
            Displaced {
                value: (!hidden).then(|| value.to_string_lossy().into_owned()),
                name: name.to_string_lossy().into_owned(),
            }
        })
        .collect()
}

fn sentences(answer: &Answer) -> String {
    let key = styled(NAME, &answer.key);
    let mut lines = vec![match (&answer.value, answer.present) {
        (Some(value), _) => format!("{key} is {}", shown(value)),
        (None, true) => format!("{key} has a value that is sensitive and not shown"),
        (None, false) => format!("{key} is absent"),
    }];
    let mut line = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            lines.push(format!("  {name:<13}{}", shown(&value)));
        }
    };
    line("because", answer.reason.clone());
    line("contributor", answer.contributor.clone());
    line("file", answer.file.clone());
    line("sha256", answer.digest.clone());
    line("policy", answer.policy.map(str::to_owned));
    line("took", answer.micros.map(|micros| format!("{micros} us")));
    line("means", answer.description.clone());
    for displaced in &answer.displaced {
        let value = displaced.value.as_deref().map_or("a value that is not shown", |value| value);
        line("displaced", Some(format!("{}, inherited as {value}", displaced.name)));
    }
    lines.join("\n")
}
