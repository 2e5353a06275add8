//! Checking what a contributor returned: the registry trusts none of it.

use super::overlay::Value;
use super::snapshot::Entry;
use crate::contract::{Binding, DeclaredVariable};
use crate::error::{Code, Error, Result};
use crate::text;

/// What became of one declared variable.
pub(super) enum Answer {
    /// The contributor had nothing to say.
    Absent,
    /// A value that an environment can hold and the operator accepts.
    Value(Value),
    /// A value that is not acceptable; the others of the same answer are.
    Refused(Error),
}

/// One [`Answer`] for each declared variable, in the order of the declaration.
///
/// # Errors
/// When the answer as a whole says more than was declared, so that none of it can be believed:
/// `too-many-values`, `undeclared-key`, `repeated-key`.
pub(super) fn check(entry: &Entry, bindings: Vec<Binding>) -> Result<Vec<Answer>> {
    let limit = entry.terms.values.count;
    if bindings.len() > limit {
        return Err(fault(
            entry,
            Code::TooManyValues,
            format!("it returned {} values; at most {limit} are taken", bindings.len()),
        ));
    }
    let variables = entry.declared.variables();
    let mut answers: Vec<Answer> = variables.iter().map(|_| Answer::Absent).collect();
    for Binding { key, value } in bindings {
        let Some((at, variable)) = entry.declared.find(&key) else {
            let shown = show(entry, &key);
            let error = fault(
                entry,
                Code::UndeclaredKey,
                format!("it returned a key that it did not declare, {shown}: declare every key that may be returned"),
            );
            return Err(error.about_text(&shown));
        };
        // The position comes from the declaration, which has as many variables as there are answers.
        let Some(answer) = answers.get_mut(at) else { continue };
        if !matches!(answer, Answer::Absent) {
            let error = fault(
                entry,
                Code::RepeatedKey,
                format!("it returned {} twice: return each key at most once", variable.key),
            );
            return Err(error.about(&variable.key));
        }
        *answer = match refusal(entry, variable, &value) {
            None => Answer::Value(Value::new(value, variable.sensitive)),
            Some(error) => Answer::Refused(error.about(&variable.key)),
        };
    }
    Ok(answers)
}

/// Why a value cannot be taken. Never says what the value is.
fn refusal(entry: &Entry, variable: &DeclaredVariable, value: &str) -> Option<Error> {
    let key = &variable.key;
    let limit = entry.terms.values.bytes;
    if value.len() > limit {
        return Some(fault(
            entry,
            Code::ValueTooLarge,
            format!("its value for {key} has {} bytes; at most {limit} are taken", value.len()),
        ));
    }
    if let Some(at) = value.bytes().position(|byte| byte == 0) {
        return Some(fault(
            entry,
            Code::InvalidValue,
            format!("its value for {key} has a NUL byte at offset {at}, which no environment variable can hold"),
        ));
    }
    let shape = entry.terms.shape(key).filter(|shape| !shape.matches(value))?;
    let message = format!(
        "its value for {key} does not match {}, as the configuration demands: correct the contributor or the pattern",
        text::shown(shape.as_str())
    );
    Some(fault(entry, Code::ValueRefused, message))
}

fn fault(entry: &Entry, code: Code, message: String) -> Error {
    Error::resolve(code, message).by(entry.declared.name())
}

/// A contributor's own words as they may be shown.
pub(super) fn show(entry: &Entry, words: &str) -> String {
    if entry.declared.handles_sensitive_values() && !entry.terms.show_guest_text {
        return entry.declared.name().withheld();
    }
    text::shown(words)
}
