//! Bringing the lock and the registry to what was decided, and telling everybody.

use std::collections::BTreeSet;
use std::time::{SystemTime, UNIX_EPOCH};

use super::deciding::{Circumstances, Decision, file_name};
use super::{Installed, Installer, View};
use crate::contract::ContributorName;
use crate::error::{Code, Error, Result};
use crate::host::advice;
use crate::host::build::Build;
use crate::installation::{Configuration, Lock, LockedBuild};
use crate::operations::{ContributorStatus, State};
use crate::registry::Missing;

impl Installer {
    /// Decides anew what is to be live and makes it so. What cannot be done leaves live what was.
    pub(super) fn settle(&self, installed: &mut Installed) {
        let configuration = self.configuration();
        let lock = match self.lock_file.read() {
            Ok(lock) => lock,
            Err(error) => {
                // Without it nobody knows what was accepted: everything stays as it is.
                installed.problems.push(error);
                return self.publish_problems(installed);
            }
        };
        let decide = |lock: &Lock, installed: &Installed| {
            let circumstances = Circumstances {
                lock,
                configuration: &configuration,
                trust: configuration.trust,
                locked: self.parts.locked,
                built_in: &self.parts.built_in,
                trials: &installed.trials,
            };
            circumstances.decide(installed)
        };
        let mut decisions = decide(&lock, installed);
        let mut lock = lock;
        if decisions.iter().any(|decision| decision.accepted.is_some()) {
            // Decided again on the lock as it is while nobody else can change it.
            let recorded = self.lock_file.edit(|lock| {
                let decisions = decide(lock, installed);
                for decision in &decisions {
                    if let (Some(build), Some(name)) = (&decision.accepted, &decision.name) {
                        lock.accept(name, &file_name(&decision.file), locked_build(build, name, &configuration));
                    }
                }
                Ok((decisions, lock.clone()))
            });
            match recorded {
                Ok(recorded) => (decisions, lock) = recorded,
                // A home that is read only: what is accepted by itself is accepted in every command.
                Err(error) => tracing::warn!(%error, "what was accepted is not remembered"),
            }
        }
        self.try_beside(installed, &mut decisions, &configuration);
        self.apply(installed, &mut decisions, &lock, &configuration);
        self.tell(installed, &decisions, &lock, &configuration);
        self.store.sweep(&remembered(&lock, &decisions));
        let folder = self.folder();
        let Installed { known, files, .. } = installed;
        known.save(|file| !file.starts_with(&folder) || files.contains_key(file));
    }

    /// Decides anew because something is over.
    pub(super) fn settle_again(&self) {
        self.settle(&mut self.installed());
    }

    /// Sets what is missing, and what everybody may look at.
    fn tell(&self, installed: &mut Installed, decisions: &[Decision], lock: &Lock, configuration: &Configuration) {
        let is_live =
            |decision: &&Decision| decision.name.as_ref().is_some_and(|name| installed.live.contains_key(name));
        let absent = decisions.iter().filter(|decision| !is_live(decision) && decision.state != State::Disabled);
        let mut missing: Vec<_> = absent.filter_map(as_missing).collect();
        let mut warnings: Vec<_> = decisions
            .iter()
            .filter_map(|decision| advice::of_file(&decision.file, decision.error.as_ref()?, is_live(&decision)))
            .collect();
        let hosted: Vec<_> = installed.live.values().map(|live| live.hosted.clone()).collect();
        let mut registered = self.parts.built_in.clone();
        registered.extend(installed.live.values().map(|live| live.registration.declared()));
        let declared = decisions.iter().map(|decision| decision.label.clone());
        let declared_names: Vec<_> = self.parts.own_names.iter().cloned().chain(declared).collect();
        let scene =
            advice::Scene { configuration, registered: &registered, hosted: &hosted, declared_names: &declared_names };
        scene.require(&mut missing);
        warnings.extend(scene.idle_sections());
        warnings.extend(installed.problems.iter().map(ToString::to_string));
        self.parts.registry.set_missing(missing);
        let statuses = statuses(decisions, lock);
        self.view.store(View { statuses, hosted, warnings, problems: installed.problems.clone() }.into());
    }

    /// Adds what is wrong to what everybody may look at, where nothing else changed.
    fn publish_problems(&self, installed: &Installed) {
        let View { statuses, hosted, mut warnings, .. } = (*self.view()).clone();
        let problems = installed.problems.clone();
        warnings.extend(problems.iter().map(ToString::to_string));
        self.view.store(View { statuses, hosted, warnings, problems }.into());
    }
}

/// A build as the lock remembers it.
pub(super) fn locked_build(build: &Build, name: &ContributorName, configuration: &Configuration) -> LockedBuild {
    let grants = configuration.grants_of(name.as_str());
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    LockedBuild {
        digest: build.digest().to_owned(),
        accepted: since.map_or(0, |since| since.as_secs()),
        imports: build.imports().to_vec(),
        grants: if grants.is_empty() { String::new() } else { serde_json::to_string(&grants).unwrap_or_default() },
        variables: build.declaration.variables.clone(),
    }
}

fn as_missing(decision: &Decision) -> Option<Missing> {
    let error = decision.error.clone()?.in_file(&decision.file);
    Some(Missing {
        label: decision.label.clone(),
        keys: decision.keys.clone(),
        file: Some(decision.file.clone()),
        required: false,
        error,
    })
}

fn statuses(decisions: &[Decision], lock: &Lock) -> Vec<ContributorStatus> {
    let previous = |name: &str| -> Vec<String> {
        lock.entry(name).into_iter().flat_map(|entry| entry.previous().map(|build| build.digest.clone())).collect()
    };
    let mut statuses: Vec<_> = decisions
        .iter()
        .map(|decision| ContributorStatus {
            name: decision.label.clone(),
            file: Some(decision.file.clone()),
            state: decision.state,
            digest: decision.live.as_ref().map(|live| live.digest().to_owned()),
            candidate: decision.candidate.clone(),
            previous: previous(&decision.label),
            error: decision.error.clone(),
            notes: decision.notes.clone(),
        })
        .collect();
    let files: BTreeSet<_> = decisions.iter().map(|decision| file_name(&decision.file)).collect();
    let gone = lock.entries().filter(|(_, entry)| !files.contains(&entry.file));
    statuses.extend(gone.map(|(name, entry)| ContributorStatus {
        name: name.to_string(),
        file: None,
        state: State::Disabled,
        digest: None,
        candidate: None,
        previous: previous(name.as_str()),
        error: None,
        notes: vec![format!(
            "{} was removed; the name and its keys stay owned. To free them: dsh-env forget {name}",
            crate::text::shown(&entry.file)
        )],
    }));
    statuses.sort_by(|a, b| a.name.cmp(&b.name));
    statuses
}

/// The builds that are to stay in the store.
fn remembered(lock: &Lock, decisions: &[Decision]) -> BTreeSet<String> {
    let mut digests = lock.digests();
    digests.extend(decisions.iter().filter_map(|decision| decision.candidate.clone()));
    digests
}

/// The error of a name that nobody has.
pub(super) fn no_such(name: &str) -> Error {
    let message = format!(
        "there is no contributor named {}: dsh-env status lists those that there are",
        crate::text::shown_within(name, 256)
    );
    Error::host(Code::ContributorNotFound, message)
}

/// The status of a name.
///
/// # Errors
/// `contributor-not-found`.
pub(super) fn status_of(view: &View, name: &str) -> Result<ContributorStatus> {
    view.statuses.iter().find(|status| status.name == name).cloned().ok_or_else(|| no_such(name))
}
