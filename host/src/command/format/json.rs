//! One flat JSON object on one line, sorted by key.

use serde_json::{Map, Value};

use dsh_env::contract::Key;

use crate::command::json;

pub(super) fn render<'a>(variables: impl Iterator<Item = (&'a Key, &'a str)>) -> String {
    let object: Map<String, Value> = variables.map(|(key, value)| (key.to_string(), value.into())).collect();
    // Text as a key and as a value can always be written.
    json::line(&object).unwrap_or_default()
}
