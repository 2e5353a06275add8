//! How a harness is composed.

use std::ffi::{OsStr, OsString};
use std::sync::Arc;

use crate::environment::OrdinaryEnv;
use crate::error::{Code, Error, Result};
use crate::executor::{Executor, Keeper};
use crate::host::HostOptions;
use crate::sessions::SessionStore;
use crate::text::shown_within;

/// The most bytes of a provider's name that a message repeats.
const MAX_SHOWN_NAME_BYTES: usize = 64;

/// How a harness is composed. Begins with what the home says and no keeper.
#[derive(Clone)]
pub struct HarnessOptions {
    pub(super) host: HostOptions,
    pub(super) keeper: Keeper,
    pub(super) ordinary: OrdinaryEnv,
    pub(super) skills_home: Option<OsString>,
    pub(super) stores: Vec<(String, Arc<dyn SessionStore>)>,
    pub(super) executors: Vec<(String, Executor)>,
}

impl HarnessOptions {
    /// A harness around such a host.
    #[must_use]
    pub fn new(host: HostOptions) -> Self {
        Self {
            host,
            keeper: Keeper::InHost,
            ordinary: OrdinaryEnv::new(),
            skills_home: None,
            stores: Vec::new(),
            executors: Vec::new(),
        }
    }

    /// What sees to it that commands end with their host.
    #[must_use]
    pub fn keeper(self, keeper: Keeper) -> Self {
        Self { keeper, ..self }
    }

    /// What every command and hook gets in its environment beside the managed variables.
    #[must_use]
    pub fn ordinary(self, ordinary: OrdinaryEnv) -> Self {
        Self { ordinary, ..self }
    }

    /// The home in which skills are found; it has to be that of the host.
    #[must_use]
    pub fn skills_home(self, home: impl AsRef<OsStr>) -> Self {
        Self { skills_home: Some(home.as_ref().to_owned()), ..self }
    }

    /// What keeps the sessions, instead of what is configured. `provider` is who brings it.
    #[must_use]
    pub fn store(mut self, provider: impl Into<String>, store: Arc<dyn SessionStore>) -> Self {
        self.stores.push((provider.into(), store));
        self
    }

    /// What runs the commands, instead of an executor of the harness's own. `provider` is who brings it.
    #[must_use]
    pub fn executor(mut self, provider: impl Into<String>, executor: Executor) -> Self {
        self.executors.push((provider.into(), executor));
        self
    }
}

/// The one provider of a service, if there is any.
///
/// # Errors
/// `invalid-configuration`, naming the service and both, where there are two.
pub(super) fn only_one<T>(service: &str, providers: Vec<(String, T)>) -> Result<Option<T>> {
    let mut providers = providers.into_iter();
    let first = providers.next();
    if let (Some((one, _)), Some((other, _))) = (&first, providers.next()) {
        let name = |name: &str| shown_within(name, MAX_SHOWN_NAME_BYTES);
        let message =
            format!("{} and {} both provide the service \"{service}\": load one of them", name(one), name(&other));
        return Err(Error::host(Code::InvalidConfiguration, message));
    }
    Ok(first.map(|(_, service)| service))
}
