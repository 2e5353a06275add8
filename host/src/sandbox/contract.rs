//! The contract as wasmtime sees it, made from `wit/contributor.wit`, and the translation to the
//! library's own types. Nothing else names the generated types.

#![allow(missing_docs, unreachable_pub, clippy::all, reason = "generated code; its documentation is the contract's")]

use self::exports::dsh::shell_env::contributor as wit;
use crate::contract::{Binding, Declaration, Execution, SessionHeader, Variable};

wasmtime::component::bindgen!({
    path: "../wit",
    world: "shell-env-contributor",
    ownership: Borrowing { duplicate_if_necessary: false },
});

pub(super) use wit::{Binding as WitBinding, Declaration as WitDeclaration, Execution as WitExecution};

/// The interface that a contributor exports, with its version: only this very one is looked up.
pub(super) const INTERFACE: &str = "dsh:shell-env/contributor@1.0.0";

/// The interface without its version: what another version is recognised by.
pub(super) const INTERFACE_OF_ANY_VERSION: &str = "dsh:shell-env/contributor";

/// The functions of the interface.
pub(super) const DECLARE: &str = "declare";
/// See [`DECLARE`].
pub(super) const RESOLVE: &str = "resolve";

/// The extensions of an execution that a contributor may see.
pub(super) fn extensions(execution: &Execution, includes: impl Fn(&str) -> bool) -> Vec<(&str, &str)> {
    let extensions = execution.extensions.iter().filter(|(name, _)| includes(name));
    extensions.map(|(name, value)| (name.as_str(), value.as_str())).collect()
}

/// An execution as a sandboxed contributor sees it, with these extensions of it.
pub(super) fn execution<'e>(execution: &'e Execution, extensions: &'e [(&'e str, &'e str)]) -> WitExecution<'e> {
    wit::Execution {
        call_id: &execution.call_id,
        root_call_id: &execution.root_call_id,
        tool: &execution.tool,
        workdir: execution.workdir.as_deref(),
        background: execution.background,
        agent: execution.session().map(|header| wit::Agent { session: session_header(header) }),
        extensions,
    }
}

fn session_header(header: &SessionHeader) -> wit::SessionHeader<'_> {
    wit::SessionHeader {
        id: header.id.as_str(),
        created_at: header.created_at,
        cwd: header.cwd.as_deref(),
        parent_session: header.parent_session.as_deref(),
        origin: header.origin.as_deref(),
        delegation_depth: header.delegation_depth,
    }
}

/// What a component declared, unchecked. The metadata is for later hosts.
pub(super) fn declaration(said: WitDeclaration) -> Declaration {
    let variables = said.variables.into_iter().map(|variable| Variable {
        key: variable.key,
        description: variable.description,
        sensitive: variable.sensitive,
    });
    Declaration { name: said.name, variables: variables.collect() }
}

/// What a component returned, unchecked.
pub(super) fn bindings(said: Vec<WitBinding>) -> Vec<Binding> {
    said.into_iter().map(|binding| Binding { key: binding.key, value: binding.value }).collect()
}
