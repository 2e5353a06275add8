//! The four steps.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};

use super::{ChildEnvironment, Managed, OrdinaryEnv, TerminalSettings, inherited, strict_shell};
use crate::contract::is_managed_name;
use crate::registry::Overlay;

/// An environment in the making; see [`ChildEnvironment::builder`].
///
/// It ends in [`with_overlay`](Self::with_overlay), in [`with_managed`](Self::with_managed) or in
/// [`without_overlay`](Self::without_overlay), so that an overlay is not left out by forgetting it.
#[derive(Clone)]
#[must_use = "ends in with_overlay, with_managed or without_overlay"]
pub struct Builder {
    inherited: Vec<(OsString, OsString)>,
    scrub_credentials: bool,
    terminal: TerminalSettings,
    ordinary: OrdinaryEnv,
    strict_shell: bool,
}

impl Builder {
    pub(super) fn new(inherited: Vec<(OsString, OsString)>) -> Self {
        Self {
            inherited,
            scrub_credentials: true,
            terminal: TerminalSettings::default(),
            ordinary: OrdinaryEnv::new(),
            strict_shell: true,
        }
    }

    /// Whether inherited names that [look like credentials](super::is_credential_name) are removed.
    pub fn scrub_credentials(self, scrub_credentials: bool) -> Self {
        Self { scrub_credentials, ..self }
    }

    /// What programs are told about the terminal.
    pub fn terminal(self, terminal: TerminalSettings) -> Self {
        Self { terminal, ..self }
    }

    /// What the request sets and unsets.
    pub fn ordinary(self, ordinary: OrdinaryEnv) -> Self {
        Self { ordinary, ..self }
    }

    /// Whether the variables go by which a shell's start-up could displace managed values; see
    /// [`strict_shell`] for the arguments that belong to it, and for what remains.
    pub fn strict_shell(self, strict_shell: bool) -> Self {
        Self { strict_shell, ..self }
    }

    /// The environment of a command that is to have the overlay.
    #[must_use]
    pub fn with_overlay(self, overlay: &Overlay) -> ChildEnvironment {
        self.with_managed(&Managed::from(overlay))
    }

    /// The same for an overlay that another process collected.
    #[must_use]
    pub fn with_managed(self, managed: &Managed) -> ChildEnvironment {
        self.merge(Some(managed))
    }

    /// The environment of a program that gets no managed facts, such as a user's hook.
    #[must_use]
    pub fn without_overlay(self) -> ChildEnvironment {
        self.merge(None)
    }

    /// Goes through the steps from the last to the first, so that who mentions a name first has the last
    /// word on it; then puts what they say together in the steps' own order.
    fn merge(self, managed: Option<&Managed>) -> ChildEnvironment {
        let Self { mut inherited, scrub_credentials, terminal, ordinary, strict_shell } = self;
        let dropped = |name: &OsStr| strict_shell && strict_shell::is_dropped(name);
        let mut decided: HashSet<&OsStr> = HashSet::new();

        let mut asked: Vec<_> = ordinary
            .changes()
            .rev()
            .filter(|(name, _)| decided.insert(*name))
            .filter(|(name, _)| !dropped(name) && !managed.is_some_and(|managed| has_key(managed, name)))
            .filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned())))
            .collect();
        asked.reverse();

        let settings: Vec<_> = terminal
            .variables()
            .filter(|(name, _)| decided.insert(OsStr::new(*name)))
            .map(|(name, value)| (name.into(), value.into()))
            .collect();

        let stays: Vec<bool> = inherited
            .iter()
            .map(|(name, value)| {
                inherited::fits(name, value)
                    && inherited::passes(name, scrub_credentials)
                    && !dropped(name)
                    && decided.insert(name)
            })
            .collect();
        let mut stays = stays.into_iter();
        inherited.retain(|_| stays.next().unwrap_or(false));

        let mut variables = inherited;
        variables.extend(settings);
        variables.extend(asked);
        if strict_shell {
            strict_shell::raise_level(&mut variables);
        }
        let managed = managed.into_iter().flat_map(Managed::iter);
        variables.extend(managed.map(|(key, value)| (key.as_str().into(), value.expose().into())));
        ChildEnvironment { variables }
    }
}

/// Whether a name, without regard to case, is a key that is managed here.
///
/// Without regard to case because some readers have none: Windows, and Nushell everywhere, would let
/// `dsh_home` displace `DSH_HOME`.
fn has_key(managed: &Managed, name: &OsStr) -> bool {
    is_managed_name(name.as_encoded_bytes())
        && name.to_str().is_some_and(|name| managed.get(&name.to_ascii_uppercase()).is_some())
}
