//! A linked component whose functions were found: what can be called.

use std::sync::Arc;

use wasmtime::component::types::ComponentItem;
use wasmtime::component::{Component, ComponentExportIndex, InstancePre, Linker};

use super::call::CallState;
use super::contract::{self, DECLARE, INTERFACE, RESOLVE, WitBinding, WitDeclaration, WitExecution};
use super::engine::Inner;
use super::limits::Limits;
use super::meter::{Meter, Phase};
use crate::contract::{Binding, CONTRACT_VERSION, Deadline, Declaration, Failure};
use crate::error::{Code, Error, Result};
use crate::text::shown;

/// A component that sees a `W` beside its arguments.
pub(super) struct Callable<W: 'static> {
    sandbox: Arc<Inner>,
    component: InstancePre<CallState<W>>,
    declare: ComponentExportIndex,
    resolve: ComponentExportIndex,
}

type Resolved = (Result<Vec<WitBinding>, String>,);

impl<W: 'static> Callable<W> {
    /// Links a component and finds its functions. Nothing of it runs.
    ///
    /// # Errors
    /// `forbidden-import`, `missing-export`, `wrong-type`.
    pub(super) fn new(sandbox: &Arc<Inner>, linker: &Linker<CallState<W>>, component: &Component) -> Result<Self> {
        check_functions(component, &sandbox.engine)?;
        let pre = linker.instantiate_pre(component).map_err(|error| {
            Error::load(
                Code::ForbiddenImport,
                format!(
                    "an import is not what this host offers under its name ({}): build it with newer tools, or for WASI 0.2",
                    shown(&format!("{error:#}"))
                ),
            )
        })?;
        let (_, interface) = component.get_export(None, INTERFACE).ok_or_else(|| missing_export(INTERFACE))?;
        let function = |name| {
            let found = component.get_export_index(Some(&interface), name);
            found.ok_or_else(|| missing_export(name))
        };
        let [declare, resolve] = [function(DECLARE)?, function(RESOLVE)?];
        Ok(Self { sandbox: Arc::clone(sandbox), component: pre, declare, resolve })
    }

    /// Asks the component, in a fresh instance, what it declares.
    ///
    /// # Errors
    /// What stopped it, or `wrong-type` where its functions have other types than the contract's.
    pub(super) fn declare(&self, world: W) -> Result<Declaration, Failure> {
        let state = CallState { meter: Meter::new(Phase::Declare, &Limits::DECLARE, None), world };
        let said = self.sandbox.call(&self.component, state, |store, instance| {
            // Both types are looked at before either runs, so that a wrong one is found at load.
            let typed = instance.get_typed_func::<(), (WitDeclaration,)>(&mut *store, &self.declare);
            let resolve = instance.get_typed_func::<(&WitExecution<'_>,), Resolved>(&mut *store, &self.resolve);
            match (typed, resolve) {
                (Ok(declare), Ok(_)) => declare.call(store, ()).map(|(said,)| Ok(said)),
                (Err(error), _) => Ok(Err((DECLARE, error))),
                (_, Err(error)) => Ok(Err((RESOLVE, error))),
            }
        })?;
        said.map(contract::declaration).map_err(|(function, error)| {
            Failure::new(
                Code::WrongType,
                format!(
                    "its function `{function}` has another type than the contract's ({}): build it with the contract's own WIT file",
                    shown(&format!("{error:#}"))
                ),
            )
        })
    }

    /// Asks the component, in a fresh instance, for its values. `deadline` ends the call beside the limits.
    ///
    /// # Errors
    /// What stopped it, or its own words.
    pub(super) fn resolve(
        &self,
        world: W,
        limits: &Limits,
        execution: &WitExecution<'_>,
        deadline: Option<&Deadline>,
    ) -> Result<Vec<Binding>, Failure> {
        let state = CallState { meter: Meter::new(Phase::Resolve, limits, deadline), world };
        let (said,) = self.sandbox.call(&self.component, state, |store, instance| {
            instance
                .get_typed_func::<(&WitExecution<'_>,), Resolved>(&mut *store, &self.resolve)?
                .call(store, (execution,))
        })?;
        said.map(contract::bindings).map_err(Failure::guest)
    }
}

/// Whether the interface is one, and has the functions. Their types are looked at once it is instantiated.
fn check_functions(component: &Component, engine: &wasmtime::Engine) -> Result<()> {
    let types = component.component_type();
    let Some(export) = types.get_export(engine, INTERFACE) else { return Err(missing_export(INTERFACE)) };
    let ComponentItem::ComponentInstance(interface) = export.ty else {
        return Err(wrong_type(INTERFACE, "an interface"));
    };
    for function in [DECLARE, RESOLVE] {
        match interface.get_export(engine, function).map(|export| export.ty) {
            None => return Err(missing_export(function)),
            Some(ComponentItem::ComponentFunc(_)) => {}
            Some(_) => return Err(wrong_type(function, "a function")),
        }
    }
    Ok(())
}

pub(super) fn missing_export(name: &str) -> Error {
    Error::load(
        Code::MissingExport,
        format!(
            "it does not export {name}: build it for the world shell-env-contributor of the contract, version {CONTRACT_VERSION}"
        ),
    )
}

pub(super) fn wrong_type(name: &str, expected: &str) -> Error {
    Error::load(
        Code::WrongType,
        format!("its export {name} is not {expected}: build it with the contract's own WIT file"),
    )
}
