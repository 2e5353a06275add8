//! The managed variables of one environment, whoever collected them.

use std::collections::BTreeSet;

use crate::contract::Key;
use crate::error::{Code, Error, Result};
use crate::registry::{MAX_OVERLAY_BYTES, Overlay, Value};

/// Managed variables, each once, sorted by key in byte order: those of an [`Overlay`], or what another process says are
/// those of one.
///
/// Of these, nothing is believed. A key is a valid one and a value is one that an environment can hold, or there is no
/// `Managed` at all. `Debug` shows no values.
#[derive(Clone, Debug)]
pub struct Managed {
    variables: Box<[(Key, Value)]>,
}

impl Managed {
    /// Checks what another process says. `sensitive` names the keys whose values are kept out of logs.
    ///
    /// # Errors
    /// `invalid-key`; `repeated-key` for one that is there twice; `invalid-value` for a value with a NUL byte;
    /// `undeclared-key` where a key is sensitive and has no value; `overlay-too-large` for more than a registry would
    /// let into an overlay.
    pub fn new<'p>(
        pairs: impl IntoIterator<Item = (&'p str, &'p str)>,
        sensitive: impl IntoIterator<Item = &'p str>,
    ) -> Result<Self> {
        let mut sensitive: BTreeSet<_> = sensitive.into_iter().collect();
        let mut variables = Vec::new();
        let mut bytes = 0;
        for (key, value) in pairs {
            // Two for what separates them, as the registry counts.
            bytes += key.len() + value.len() + 2;
            if bytes > MAX_OVERLAY_BYTES {
                let message = format!("the variables have over {MAX_OVERLAY_BYTES} bytes, which no overlay has");
                return Err(Error::host(Code::OverlayTooLarge, message));
            }
            let is_sensitive = sensitive.remove(key);
            let key = Key::new(key)?;
            if value.contains('\0') {
                let message = format!("the value of {key} has a NUL byte, which no environment variable can hold");
                return Err(Error::host(Code::InvalidValue, message).about(&key));
            }
            variables.push((key, Value::new(value, is_sensitive)));
        }
        if let Some(key) = sensitive.first() {
            let message = "a key is said to be sensitive and has no value";
            return Err(Error::host(Code::UndeclaredKey, message).about_text(key));
        }
        variables.sort_by(|(a, _), (b, _)| a.cmp(b));
        let twice = variables.iter().zip(variables.iter().skip(1)).find(|((a, _), (b, _))| a == b);
        if let Some(((key, _), _)) = twice {
            return Err(Error::host(Code::RepeatedKey, format!("{key} is there twice")).about(key));
        }
        Ok(Self { variables: variables.into() })
    }

    /// The variables, sorted by key in byte order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Key, &Value)> {
        self.variables.iter().map(|(key, value)| (key, value))
    }

    /// The value of a key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Value> {
        let at = self.variables.binary_search_by(|(known, _)| known.as_str().cmp(key)).ok()?;
        self.variables.get(at).map(|(_, value)| value)
    }
}

impl From<&Overlay> for Managed {
    fn from(overlay: &Overlay) -> Self {
        Self { variables: overlay.iter().map(|entry| (entry.key.clone(), entry.value.clone())).collect() }
    }
}
