//! Contributors that come together and go together.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::Registry;
use super::registration::Registration;
use super::terms::Terms;
use crate::contract::Contributor;
use crate::error::{Code, Error, Result};

/// Releases what was registered through it, in reverse order, when it is closed or dropped.
#[derive(Debug)]
pub struct Scope {
    registry: Registry,
    /// `None` once closed.
    registrations: Mutex<Option<Vec<Arc<Registration>>>>,
}

impl Scope {
    pub(super) fn new(registry: Registry) -> Self {
        Self { registry, registrations: Mutex::new(Some(Vec::new())) }
    }

    /// Registers a contributor until the scope is closed, or [`Registration::release`] is called on
    /// what is returned; dropping that alone releases nothing, since the scope holds it too.
    ///
    /// # Errors
    /// As [`Registry::register`]; `scope-closed` on a closed scope.
    pub fn register(&self, contributor: impl Contributor + 'static) -> Result<Arc<Registration>> {
        self.register_under(Arc::new(contributor), Terms::default())
    }

    /// Registers a contributor under the operator's terms.
    ///
    /// # Errors
    /// As [`register`](Self::register).
    pub fn register_under(&self, contributor: Arc<dyn Contributor>, terms: Terms) -> Result<Arc<Registration>> {
        let closed = || Error::host(Code::ScopeClosed, "the scope is closed: register in one that is open");
        if self.lock().is_none() {
            return Err(closed());
        }
        // Not under the lock, since a contributor's own code may close this scope; so it is looked at again.
        let registration = Arc::new(self.registry.register_under(contributor, terms)?);
        let mut registrations = self.lock();
        let open = registrations.as_mut().ok_or_else(closed)?;
        // A scope that lives long keeps nothing of what was released before it.
        open.retain(|registration| !registration.is_released());
        open.push(Arc::clone(&registration));
        Ok(registration)
    }

    /// Releases everything, the last first, and takes no more. Closing twice is harmless.
    pub fn close(&self) {
        let registrations = self.lock().take();
        for registration in registrations.into_iter().flatten().rev() {
            registration.release();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Vec<Arc<Registration>>>> {
        self.registrations.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Scope {
    fn drop(&mut self) {
        self.close();
    }
}
