//! A contributor that reads the working directory's name: it owns `DSH_TICKET`, the issue key in it, for people who
//! keep one folder an issue. [`issue_key::issue_key`] states the rule.

pub mod issue_key;

mod bindings {
    wit_bindgen::generate!({ path: "../../../wit", world: "shell-env-contributor" });
}

use bindings::exports::dsh::shell_env::contributor::{Binding, Declaration, Execution, Guest, Variable};
use issue_key::issue_key;

const KEY: &str = "DSH_TICKET";

struct Ticket;

impl Guest for Ticket {
    fn declare() -> Declaration {
        Declaration {
            name: "ticket".into(),
            variables: vec![Variable {
                key: KEY.into(),
                description: "Key of the issue being worked on, such as `ABC-123`: the first in the name of the \
                              command's working directory, in upper case and not part of a longer word. A hint and no \
                              credential: no tracker was asked whether the issue exists. Absent when the name holds \
                              no such key or the directory is unknown."
                    .into(),
                sensitive: false,
                metadata: vec![],
            }],
            metadata: vec![],
        }
    }

    fn resolve(execution: Execution) -> Result<Vec<Binding>, String> {
        match execution.workdir.as_deref().and_then(issue_key) {
            Some(key) => Ok(vec![Binding { key: KEY.into(), value: key.into() }]),
            None => Ok(vec![]),
        }
    }
}

// Only where there is a host to export to: other linkers refuse the names.
#[cfg(target_family = "wasm")]
bindings::export!(Ticket with_types_in bindings);
