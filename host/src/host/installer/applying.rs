//! Putting into the registry what is to be live.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::deciding::{Answering, Decision};
use super::{Installed, Installer};
use crate::contract::{Contributor, ContributorName};
use crate::error::{Error, Result};
use crate::host::build::Build;
use crate::host::hosted::{HostedContributor, LiveContributor};
use crate::installation::{Configuration, Lock};
use crate::operations::State;
use crate::registry::Terms;
use crate::sandbox::Limits;

/// One that is to be in the registry.
struct Wanted<'d> {
    decision: &'d mut Decision,
    name: ContributorName,
    build: Arc<Build>,
}

impl Installer {
    /// Releases what goes, and replaces or registers the others, each in one step.
    pub(super) fn apply(
        &self,
        installed: &mut Installed,
        decisions: &mut [Decision],
        lock: &Lock,
        configuration: &Configuration,
    ) {
        let mut builds = BTreeMap::new();
        let mut wanted = Vec::new();
        for decision in decisions {
            match self.build_of(decision, installed, lock) {
                Ok(None) => {}
                Ok(Some((name, build))) => {
                    builds.insert(build.digest().to_owned(), Arc::clone(&build));
                    wanted.push(Wanted { decision, name, build });
                }
                Err(error) => self.keep_what_was(decision, installed, error),
            }
        }
        let names: BTreeSet<_> = wanted.iter().map(|wanted| wanted.name.clone()).collect();
        // One whose approved build cannot be had stays as it is; its decision says so.
        let clings = std::mem::take(&mut installed.clings);
        installed.live.retain(|name, _| {
            let stays = names.contains(name) || clings.contains(name);
            if !stays {
                tracing::info!(contributor = name.as_str(), "withdrawn");
            }
            stays
        });
        self.put_all(installed, wanted, configuration);
        builds.extend(
            installed.live.values().map(|live| (live.hosted.digest().to_owned(), Arc::clone(&live.hosted.build))),
        );
        installed.builds = builds;
    }

    /// Puts in what can be; what takes a key of one that is still to give it up is tried again after the others.
    fn put_all(&self, installed: &mut Installed, mut wanted: Vec<Wanted<'_>>, configuration: &Configuration) {
        loop {
            let before = wanted.len();
            let mut refused = Vec::new();
            for wanted in wanted {
                if let Err(error) = self.put(installed, &wanted, configuration) {
                    refused.push((wanted, error));
                }
            }
            if refused.is_empty() {
                return;
            }
            if refused.len() == before {
                for (wanted, error) in refused {
                    let Wanted { decision, name, .. } = wanted;
                    decision.candidate = decision.live.take().map(|live| live.digest().to_owned());
                    decision.state = State::Refused;
                    decision.error = Some(error);
                    let live = installed.live.get(&name);
                    decision.live = live.map(|live| Answering::Build(Arc::clone(&live.hosted.build)));
                }
                return;
            }
            wanted = refused.into_iter().map(|(wanted, _)| wanted).collect();
        }
    }

    fn put(&self, installed: &mut Installed, wanted: &Wanted<'_>, configuration: &Configuration) -> Result<()> {
        let Wanted { decision, name, build } = wanted;
        let (limits, terms) = configuration.of_contributor(name.as_str());
        let limits = self.within_ceiling(limits);
        let grants = configuration.grants_of(name.as_str());
        if let Some(live) = installed.live.get(name)
            && live.hosted.digest() == build.digest()
            && live.hosted.file == decision.file
            && live.is_under(&limits, &terms, &grants)
        {
            return Ok(());
        }
        let contributor: Arc<dyn Contributor> =
            Arc::new(build.contributor(limits, grants.clone(), terms.show_guest_text));
        let hosted =
            HostedContributor { name: name.clone(), file: decision.file.clone(), build: Arc::clone(build), grants };
        let hosted = Arc::new(hosted);
        match installed.live.get_mut(name) {
            Some(live) => {
                live.registration.replace_under(contributor, terms.clone())?;
                tracing::info!(contributor = name.as_str(), digest = build.digest(), "replaced");
                (live.hosted, live.limits, live.terms) = (hosted, limits, terms);
            }
            None => {
                let registration = self.registry().register_under(contributor, terms.clone())?;
                tracing::info!(contributor = name.as_str(), digest = build.digest(), "live");
                installed.live.insert(name.clone(), LiveContributor { hosted, registration, limits, terms });
            }
        }
        Ok(())
    }

    /// The build that is to answer for a decision, loaded from the store where it is not here yet.
    fn build_of(
        &self,
        decision: &Decision,
        installed: &Installed,
        lock: &Lock,
    ) -> Result<Option<(ContributorName, Arc<Build>)>> {
        let (Some(name), Some(live)) = (&decision.name, &decision.live) else { return Ok(None) };
        let build = match live {
            Answering::Build(build) => Arc::clone(build),
            Answering::Stored(build) => match installed.builds.get(&build.digest) {
                Some(build) => Arc::clone(build),
                None => Arc::new(Build::stored(self.sandbox()?, &self.store, &build.digest, lock)?),
            },
        };
        Ok(Some((name.clone(), build)))
    }

    /// The build that was approved cannot be had: what answers now goes on, if anything does.
    fn keep_what_was(&self, decision: &mut Decision, installed: &mut Installed, error: Error) {
        let Some(name) = &decision.name else { return };
        let answering = installed.live.get(name);
        if answering.is_some() {
            installed.clings.insert(name.clone());
        }
        decision.live = answering.map(|live| Answering::Build(Arc::clone(&live.hosted.build)));
        if decision.error.is_none() {
            decision.state = State::Refused;
            decision.error = Some(error);
        } else {
            decision.notes.push(format!("the approved build cannot be had either: {error}"));
        }
    }

    /// The engine that runs was made for so much: more takes effect when the host starts again.
    fn within_ceiling(&self, limits: Limits) -> Limits {
        let Some((_, ceiling)) = self.sandbox.get() else { return limits };
        Limits {
            memory: limits.memory.min(ceiling.memory),
            table_elements: limits.table_elements.min(ceiling.table_elements),
            ..limits
        }
    }
}

impl LiveContributor {
    fn is_under(&self, limits: &Limits, terms: &Terms, grants: &crate::sandbox::Grants) -> bool {
        self.limits == *limits && self.terms == *terms && self.hosted.grants == *grants
    }
}
