//! A component as a contributor.

use std::sync::Arc;

use wasmtime::component::{ComponentExportIndex, InstancePre};

use super::call::{CallState, Phase};
use super::contract::{self, WitBinding, WitDeclaration, WitExecution};
use super::engine::Inner;
use super::limits::Limits;
use crate::contract::{Binding, Contributor, Deadline, Declaration, Execution, Failure};
use crate::error::{Code, Error, Result};

/// A component that was asked what it declares. Every [`resolve`](Contributor::resolve) runs in a fresh
/// instance.
pub struct SandboxedContributor {
    sandbox: Arc<Inner>,
    component: InstancePre<CallState>,
    resolve: ComponentExportIndex,
    limits: Limits,
    declaration: Declaration,
}

impl SandboxedContributor {
    /// Asks a component, whose exports were found, what it declares.
    pub(super) fn new(
        sandbox: Arc<Inner>,
        component: InstancePre<CallState>,
        [declare, resolve]: [ComponentExportIndex; 2],
    ) -> Result<Self> {
        let said = sandbox.call(&component, Phase::Declare, &Limits::DECLARE, None, |store, instance| {
            // Both types are looked at before either runs, so that a wrong one is found at load.
            let typed = instance.get_typed_func::<(), (WitDeclaration,)>(&mut *store, &declare);
            let resolve = instance
                .get_typed_func::<(&WitExecution<'_>,), (Result<Vec<WitBinding>, String>,)>(&mut *store, &resolve);
            match (typed, resolve) {
                (Ok(declare), Ok(_)) => declare.call(store, ()).map(|(said,)| Ok(said)),
                (Err(error), _) => Ok(Err((contract::DECLARE, error))),
                (_, Err(error)) => Ok(Err((contract::RESOLVE, error))),
            }
        });
        let said = said.map_err(|failure| failure.into_load_error())?;
        let said = said.map_err(|(function, error)| {
            Error::load(
                Code::WrongType,
                format!(
                    "its function `{function}` has another type than the contract's ({}): build it with the contract's own WIT file",
                    crate::text::shown(&format!("{error:#}"))
                ),
            )
        })?;
        Ok(Self { sandbox, component, resolve, limits: Limits::RESOLVE, declaration: contract::declaration(said) })
    }

    /// The same under other limits.
    #[must_use]
    pub fn with_limits(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }
}

impl Contributor for SandboxedContributor {
    fn declare(&self) -> Declaration {
        self.declaration.clone()
    }

    fn resolve(&self, execution: &Execution, deadline: &Deadline) -> Result<Vec<Binding>, Failure> {
        let execution = contract::execution(execution);
        let (said,) =
            self.sandbox.call(&self.component, Phase::Resolve, &self.limits, Some(deadline), |store, instance| {
                instance
                    .get_typed_func::<(&WitExecution<'_>,), (Result<Vec<WitBinding>, String>,)>(
                        &mut *store,
                        &self.resolve,
                    )?
                    .call(store, (&execution,))
            })?;
        said.map(contract::bindings).map_err(Failure::guest)
    }

    // The limits end it whatever it does, so it needs no thread of its own.
    fn may_wait(&self) -> bool {
        false
    }
}

impl std::fmt::Debug for SandboxedContributor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SandboxedContributor").field("declaration", &self.declaration).finish_non_exhaustive()
    }
}
