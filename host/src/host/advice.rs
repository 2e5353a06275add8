//! What people should know although the host works: what is missing, and what of the configuration applies to
//! nothing.

use std::path::Path;
use std::sync::Arc;

use super::hosted::HostedContributor;
use crate::contract::{ContributorName, Declared};
use crate::error::{Code, Error};
use crate::installation::{Configuration, ContributorSettings, nearest};
use crate::registry::{Missing, OnFailure};
use crate::text::shown;

/// What to say of a file whose build does not answer.
pub(super) fn of_file(file: &Path, error: &Error, is_live: bool) -> Option<String> {
    let error = error.clone().in_file(file);
    Some(if is_live {
        format!("the newest build of an installed contributor is not live, the approved one is: {error}")
    } else {
        format!("an installed contributor is missing from every overlay: {error}")
    })
}

/// What is there, beside what is configured.
pub(super) struct Scene<'s> {
    pub(super) configuration: &'s Configuration,
    /// What is registered, the host's own included.
    pub(super) registered: &'s [Declared],
    pub(super) hosted: &'s [Arc<HostedContributor>],
    /// Names that the host or installed files declare, also those that are disabled or refused.
    pub(super) declared_names: &'s [String],
}

impl Scene<'_> {
    /// Marks what the operator requires and is not there.
    pub(super) fn require(&self, missing: &mut Vec<Missing>) {
        let required = self.configuration.contributors.iter().filter(|(_, settings)| settings.required);
        for (name, settings) in required {
            if self.registered.iter().any(|declared| declared.name() == name) {
                continue;
            }
            if let Some(missing) = missing.iter_mut().find(|missing| missing.label == name.as_str()) {
                missing.required = true;
                continue;
            }
            let why =
                if settings.enabled { "no installed file that could be loaded declares it" } else { "it is disabled" };
            let message = format!("the configuration requires {name}, and {why}: install it, or set required = false");
            let error = Error::load(Code::Unreadable, message).by(name);
            missing.push(Missing { label: name.to_string(), keys: Vec::new(), file: None, required: true, error });
        }
    }

    /// A section for a name that nobody has is a slip of the pen, or waits for its contributor.
    pub(super) fn idle_sections(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        for (name, settings) in &self.configuration.contributors {
            let place = self.configuration.place_of(settings);
            if let Some(declared) = self.registered.iter().find(|declared| declared.name() == name) {
                for key in settings.terms.keys.keys().filter(|key| declared.find(key.as_str()).is_none()) {
                    let keys = declared.variables().iter().map(|variable| variable.key.as_str());
                    let hint = did_you_mean(key.as_str(), keys);
                    warnings.push(format!("{place}: {name} declares no {key}{hint}"));
                }
                warnings.extend(self.idle_grants(name, settings).map(|idle| format!("{place}: {name} {idle}")));
                warnings.extend(never_kept(declared, settings).map(|keys| {
                    format!(
                        "{place}: {name} calls {keys} sensitive, and no sensitive value is kept: last-good leaves it out when {name} fails; choose another on-failure for it"
                    )
                }));
            } else if !self.declared_names.iter().any(|declared| declared == name.as_str()) {
                let hint = did_you_mean(name.as_str(), self.declared_names.iter().map(String::as_str));
                warnings.push(format!("{place}: no installed contributor is named {name}{hint}"));
            }
        }
        warnings
    }

    /// What of a section's grants and settings changes nothing.
    fn idle_grants(&self, name: &ContributorName, settings: &ContributorSettings) -> Option<&'static str> {
        let has_settings = !settings.settings.0.is_empty();
        if self.hosted.iter().all(|hosted| hosted.name() != name) {
            let idle = has_settings || !settings.grants.is_empty();
            return idle.then_some("is the host's own, so that grants and settings change nothing: remove them");
        }
        let unread = has_settings && settings.grants.config.is_none();
        unread.then_some("has settings that it may not read: grant it config = true, or remove them")
    }
}

/// The keys whose last good value the operator wants to go on with, and cannot.
fn never_kept(declared: &Declared, settings: &ContributorSettings) -> Option<String> {
    let last_good = |key| matches!(settings.terms.on_failure(key), OnFailure::LastGood(_));
    let variables = declared.variables().iter().filter(|variable| variable.sensitive && last_good(&variable.key));
    let keys: Vec<_> = variables.map(|variable| variable.key.as_str()).collect();
    (!keys.is_empty()).then(|| keys.join(", "))
}

fn did_you_mean<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> String {
    match nearest(name, known) {
        Some(nearest) => format!("; did you mean {}?", shown(nearest)),
        None => String::new(),
    }
}
