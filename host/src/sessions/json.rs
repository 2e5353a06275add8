//! Taking the lines of a log apart: what is missing, and what is of the wrong type.

use serde_json::{Map, Value};

use crate::error::{Code, Error, Result};

/// The fields of an object.
pub(super) fn object(value: Value, what: &str) -> Result<Map<String, Value>> {
    match value {
        Value::Object(fields) => Ok(fields),
        _ => Err(Error::host(Code::SessionDamaged, format!("{what} is not an object"))),
    }
}

/// Takes a text out; one that is null is absent.
pub(super) fn optional_text(fields: &mut Map<String, Value>, name: &str) -> Result<Option<String>> {
    match fields.remove(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(Error::host(Code::SessionDamaged, format!("{name} is not a text"))),
    }
}

/// A whole number that is not negative. Programs that know no other numbers may write it as `1.0`.
pub(super) fn integer(value: Option<&Value>) -> Option<u64> {
    /// Beyond, not every whole number is a floating-point one.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let value = value?;
    value.as_u64().or_else(|| {
        let float = value.as_f64().filter(|float| float.fract() == 0.0 && (0.0..=EXACT).contains(float))?;
        // In range and whole: the text of it is that of an integer.
        format!("{float}").parse().ok()
    })
}
