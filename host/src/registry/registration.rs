//! The guard that a registration is.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use super::Shared;
use super::snapshot::{Entry, EntryId};
use super::terms::Terms;
use crate::contract::{Contributor, ContributorName, Declared};
use crate::error::{Code, Error, Result};

/// A contributor's place in a registry: dropping it frees the name and the keys.
///
/// A collection that began before goes on with the contributor as it was.
#[must_use = "dropping a registration releases the contributor"]
pub struct Registration {
    registry: Weak<Shared>,
    id: EntryId,
    declared: Mutex<Declared>,
}

impl Registration {
    pub(super) fn new(registry: &Arc<Shared>, id: EntryId, declared: Declared) -> Self {
        Self { registry: Arc::downgrade(registry), id, declared: Mutex::new(declared) }
    }

    /// The registered name.
    #[must_use]
    pub fn name(&self) -> ContributorName {
        self.declared().name().clone()
    }

    /// What the contributor declared.
    #[must_use]
    pub fn declared(&self) -> Declared {
        self.declared.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Puts another contributor in this one's place in one step: every overlay has the old one or the
    /// new one. The operator's terms stay.
    ///
    /// # Errors
    /// What [`Declaration::check`](crate::contract::Declaration::check) finds as if the old one were
    /// gone, which then stays; `scope-closed` if it was released before.
    pub fn replace(&self, contributor: impl Contributor + 'static) -> Result<()> {
        self.replace_with(Arc::new(contributor))
    }

    /// As [`replace`](Self::replace), for a contributor that is shared already.
    ///
    /// # Errors
    /// As [`replace`](Self::replace).
    pub fn replace_with(&self, contributor: Arc<dyn Contributor>) -> Result<()> {
        self.replace_by(contributor, None)
    }

    fn replace_by(&self, contributor: Arc<dyn Contributor>, terms: Option<Terms>) -> Result<()> {
        let released =
            || Error::host(Code::ScopeClosed, "the registration was released before: register the contributor again");
        let declaration = contributor.declare();
        let registry = self.registry.upgrade().ok_or_else(released)?;
        registry.change(|_, snapshot| {
            let old = snapshot.find(self.id).ok_or_else(released)?;
            let rest = snapshot.without(self.id);
            let declared = declaration.check(&rest)?;
            // A clone, so that one which is refused is dropped after the registry's lock.
            let entry = Entry::new(
                self.id,
                declared.clone(),
                Arc::clone(&contributor),
                terms.unwrap_or_else(|| old.terms.clone()),
            );
            // Under the registry's lock, so that of two at once the same one wins here and there.
            *self.declared.lock().unwrap_or_else(PoisonError::into_inner) = declared;
            Ok((rest.with(entry), ()))
        })
    }

    /// As [`replace_with`](Self::replace_with), under other terms of the operator.
    ///
    /// # Errors
    /// As [`replace`](Self::replace).
    pub fn replace_under(&self, contributor: Arc<dyn Contributor>, terms: Terms) -> Result<()> {
        self.replace_by(contributor, Some(terms))
    }

    /// Whether the name and the keys are free again.
    pub(super) fn is_released(&self) -> bool {
        self.registry.upgrade().is_none_or(|registry| registry.snapshot.load().find(self.id).is_none())
    }

    /// Frees the name and the keys. Releasing twice is harmless.
    pub fn release(&self) {
        let Some(registry) = self.registry.upgrade() else { return };
        let released = registry.change(|_, snapshot| Ok((snapshot.without(self.id), ())));
        debug_assert!(released.is_ok(), "the closure above does not fail");
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        self.release();
    }
}

impl std::fmt::Debug for Registration {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Registration").field(&self.name()).finish()
    }
}
