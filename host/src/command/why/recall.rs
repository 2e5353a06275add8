//! What a server remembers of one variable in a recent execution.

use std::process::ExitCode;

use anyhow::Result;
use dsh_env::contract::Key;
use dsh_env::protocol::{ExplainParameters, Method};
use dsh_env::text::{shown, shown_within};
use dsh_env::{Code, Error};
use serde_json::Value;

use crate::command::arguments::WhyArguments;
use crate::command::output::{NAME, Output, styled};
use crate::command::server;

/// Says what became of a key in the execution of a call.
pub(super) fn run(arguments: &WhyArguments, call: &str, key: &Key, output: &Output) -> Result<ExitCode> {
    let mut client = server::required(&arguments.host.place, &arguments.server)?;
    let parameters = ExplainParameters { call: call.to_owned(), key: key.to_string() };
    let answer = client.call(Method::Explain, Some(&parameters))?;
    if answer.is_null() {
        let message = format!(
            "the server remembers no call {}: it remembers the last few hundred since it began",
            shown_within(call, 256)
        );
        return Err(Error::host(Code::InvalidExecution, message).into());
    }
    if output.is_json() {
        output.json(&answer)?
    } else {
        output.text(&sentences(key, &answer))?
    }
    Ok(ExitCode::SUCCESS)
}

fn sentences(key: &Key, answer: &Value) -> String {
    let text = |path: &str| match answer.pointer(path)? {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    };
    let state = text("/state").unwrap_or_default();
    let mut lines = vec![format!("{} was {}", styled(NAME, key.as_str()), shown(&state.replace('-', " ")))];
    let rows = [
        ("because", text("/error/message")),
        ("owner", text("/owner")),
        ("policy", text("/policy")),
        ("bytes", text("/length")),
        ("hash", text("/hash")),
        ("tool", text("/call/tool")),
        ("session", text("/call/session_id")),
        ("collection", text("/call/micros").map(|micros| format!("{micros} us"))),
    ];
    lines.extend(rows.into_iter().filter_map(|(name, value)| Some(format!("  {name:<13}{}", shown(&value?)))));
    for asked in answer.get("contributors").and_then(Value::as_array).into_iter().flatten() {
        let word = |name: &str| asked.get(name).and_then(Value::as_str).unwrap_or_default();
        let micros = asked.get("micros").and_then(Value::as_u64).unwrap_or_default();
        let digest: String = word("digest").chars().take(12).collect();
        lines.push(format!(
            "  {:<13}{}",
            "asked",
            shown(&format!("{} {digest} {micros} us, {}", word("name"), word("policy")))
        ));
    }
    lines.join("\n")
}
