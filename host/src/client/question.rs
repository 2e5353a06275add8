//! What is sent.

use serde::Serialize;

use crate::protocol::{JSONRPC, Method};

#[derive(Serialize)]
struct Question<'p, P> {
    jsonrpc: &'static str,
    id: u64,
    method: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    params: Option<&'p P>,
}

/// A question as a line, its end included.
pub(super) fn line(id: u64, method: Method, parameters: Option<&impl Serialize>) -> serde_json::Result<Vec<u8>> {
    let question = Question { jsonrpc: JSONRPC, id, method: method.as_str(), params: parameters };
    let mut line = serde_json::to_vec(&question)?;
    line.push(b'\n');
    Ok(line)
}
