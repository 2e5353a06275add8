//! A contributor that places every shell call in a distributed trace: it owns `DSH_TRACEPARENT`, the same trace for
//! every command of a session and a parent id for each call. Tools that speak OpenTelemetry take it from there:
//! `TRACEPARENT=$DSH_TRACEPARENT my-tool`.

pub mod traceparent;

mod bindings {
    wit_bindgen::generate!({ path: "../../../wit", world: "shell-env-contributor" });
}

use bindings::exports::dsh::shell_env::contributor::{Binding, Declaration, Execution, Guest, Variable};
use traceparent::traceparent;

const KEY: &str = "DSH_TRACEPARENT";

struct TraceContext;

impl Guest for TraceContext {
    fn declare() -> Declaration {
        Declaration {
            name: "trace-context".into(),
            variables: vec![Variable {
                key: KEY.into(),
                description: "W3C traceparent for what this command reports: all commands of a session (without an \
                              agent: all under one root call) share a trace id, and each call has a parent id of its \
                              own. A hint and no credential: both are computed from the session and call ids, and no \
                              span need exist under either. Never absent."
                    .into(),
                sensitive: false,
                metadata: vec![],
            }],
            metadata: vec![],
        }
    }

    fn resolve(execution: Execution) -> Result<Vec<Binding>, String> {
        let session_id = execution.agent.as_ref().map(|agent| agent.session.id.as_str());
        let value = traceparent(session_id, &execution.root_call_id, &execution.call_id);
        Ok(vec![Binding { key: KEY.into(), value }])
    }
}

// Only where there is a host to export to: other linkers refuse the names.
#[cfg(target_family = "wasm")]
bindings::export!(TraceContext with_types_in bindings);
