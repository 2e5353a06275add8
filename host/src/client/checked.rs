//! Whether an answer may be believed: an environment is made of it.

use std::collections::BTreeSet;

use crate::contract::{ContributorName, Execution, HOST, Key, check_description};
use crate::environment::Managed;
use crate::error::Error;
use crate::protocol::{CollectResult, CollectedContributor};
use crate::registry::ListedVariable;
use crate::text::shown_within;

/// The most bytes of a digest, or of the name of a policy.
const MAX_WORD_BYTES: usize = 128;

/// The answer, checked and sorted; or why it is none, in words that go on from "the server".
pub(super) fn collected(mut result: CollectResult, execution: &Execution) -> Result<CollectResult, String> {
    let pairs = result.env.0.iter().map(|(key, value)| (key.as_str(), value.as_str()));
    let managed = Managed::new(pairs, result.sensitive.iter().map(String::as_str)).map_err(in_words)?;
    result.env.0.sort_unstable();
    result.sensitive = each_once(result.sensitive, "sensitive")?;
    result.unset = each_once(result.unset, "unset")?;
    result.degraded = each_once(result.degraded, "degraded")?;
    if let Some(key) = result.unset.iter().find(|key| managed.get(key).is_some()) {
        return Err(format!("says of {key} that it is unset, and gives a value"));
    }
    let is_expected = match execution.call_id.as_str() {
        "" => !result.call.is_empty() && is_plain(&result.call, MAX_WORD_BYTES),
        asked => result.call == asked,
    };
    if !is_expected {
        return Err("answered about another call".to_owned());
    }
    result.contributors.iter().try_for_each(took_part)?;
    Ok(result)
}

/// Valid keys, sorted, none of them twice.
fn each_once(keys: Vec<String>, what: &str) -> Result<Vec<String>, String> {
    let count = keys.len();
    keys.iter().try_for_each(|key| Key::new(key).map(drop)).map_err(in_words)?;
    let keys: BTreeSet<_> = keys.into_iter().collect();
    if keys.len() < count {
        return Err(format!("says of a key twice that it is {what}"));
    }
    Ok(keys.into_iter().collect())
}

fn took_part(contributor: &CollectedContributor) -> Result<(), String> {
    ContributorName::new(&contributor.name).map_err(in_words)?;
    let digest = contributor.digest.as_deref().unwrap_or_default();
    if !is_plain(digest, MAX_WORD_BYTES) || !is_plain(&contributor.policy, MAX_WORD_BYTES) {
        return Err(format!("says of {} what no digest or policy is", contributor.name));
    }
    Ok(())
}

fn is_plain(text: &str, limit: usize) -> bool {
    text.len() <= limit && text.bytes().all(|byte| byte.is_ascii_graphic())
}

/// The variables, checked and sorted; or why they are none.
pub(super) fn listed(mut variables: Vec<ListedVariable>) -> Result<Vec<ListedVariable>, String> {
    for variable in &variables {
        Key::new(&variable.key).map_err(in_words)?;
        check_description(&variable.description).map_err(in_words)?;
        if variable.contributor != HOST {
            ContributorName::new(&variable.contributor).map_err(in_words)?;
        }
    }
    variables.sort_by(|a, b| a.key.cmp(&b.key));
    let twice = variables.iter().zip(variables.iter().skip(1)).find(|(a, b)| a.key == b.key);
    match twice {
        Some((variable, _)) => Err(format!("lists {} twice", variable.key)),
        None => Ok(variables),
    }
}

fn in_words(error: Error) -> String {
    format!("answered with what cannot be true ({})", shown_within(error.message(), 512))
}
