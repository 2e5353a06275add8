//! Loading a host's contributors from their files, and saying what is missing.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::HostedContributor;
use crate::contract::{Contributor, ContributorName, Declaration, Declared, Key};
use crate::error::{Code, Error, Result};
use crate::installation::{Configuration, ContributorSettings, read_component, read_installed};
use crate::registry::{Missing, Registration, Registry, Terms};
use crate::sandbox::{Grants, Limits, Sandbox, SandboxedContributor};
use crate::text::shown;

/// Contributors of a host that is being opened.
pub(super) struct Loading<'a> {
    registry: &'a Registry,
    configuration: &'a Configuration,
    contributors: Vec<HostedContributor>,
    /// What was registered so far, the built-in ones included.
    registered: Vec<Declared>,
    missing: Vec<Missing>,
    warnings: Vec<String>,
    /// Names that the host or installed files declare, also those that are disabled or refused.
    declared_names: Vec<String>,
}

/// A component that was asked what it declares and is not registered yet.
struct Loaded {
    file: PathBuf,
    digest: String,
    contributor: SandboxedContributor,
    declaration: Declaration,
}

impl Loaded {
    fn new(sandbox: &Sandbox, file: &Path, bytes: Vec<u8>) -> Result<Self> {
        let component = sandbox.load(bytes)?;
        let contributor = component.contributor()?;
        let declaration = contributor.declare();
        Ok(Self { file: file.to_owned(), digest: component.digest().to_owned(), contributor, declaration })
    }
}

impl<'a> Loading<'a> {
    pub(super) fn new(registry: &'a Registry, configuration: &'a Configuration) -> Self {
        Self {
            registry,
            configuration,
            contributors: Vec::new(),
            registered: Vec::new(),
            missing: Vec::new(),
            warnings: Vec::new(),
            declared_names: Vec::new(),
        }
    }

    /// Loads the installed files. One that cannot be loaded is missing, and the others are not.
    ///
    /// # Errors
    /// `internal` where the host itself has too little of something, which is no contributor's fault.
    pub(super) fn load_installed(&mut self, sandbox: &Sandbox, files: Vec<PathBuf>) -> Result<()> {
        let mut loaded = Vec::new();
        for file in files {
            match read_installed(&file).and_then(|bytes| Loaded::new(sandbox, &file, bytes)) {
                Ok(component) => loaded.push(component),
                Err(error) if error.code() == Code::Internal => return Err(error.in_file(&file)),
                Err(error) => self.miss(&label_of(&file), &file, Vec::new(), error),
            }
        }
        self.declared_names.extend(loaded.iter().map(|component| component.declaration.name.clone()));
        for component in loaded {
            self.take_installed(component);
        }
        Ok(())
    }

    /// Registers a contributor of the host's own under the operator's terms, unless it is disabled.
    ///
    /// # Errors
    /// As [`Registry::register`].
    pub(super) fn take_built_in(&mut self, contributor: impl Contributor + 'static) -> Result<Option<Registration>> {
        let name = contributor.declare().name;
        self.declared_names.push(name.clone());
        if self.configuration.contributors.get(name.as_str()).is_some_and(|settings| !settings.enabled) {
            return Ok(None);
        }
        let (_, terms) = self.configuration.of_contributor(&name);
        let registration = self.registry.register_under(Arc::new(contributor), terms)?;
        self.registered.push(registration.declared());
        Ok(Some(registration))
    }

    /// Registers an installed contributor under the operator's terms, unless it is disabled.
    fn take_installed(&mut self, component: Loaded) {
        let (file, name) = (component.file.clone(), component.declaration.name.clone());
        if self.configuration.contributors.get(name.as_str()).is_some_and(|settings| !settings.enabled) {
            return;
        }
        let keys = keys_of(&component.declaration);
        let (limits, terms) = self.configuration.of_contributor(&name);
        let grants = self.configuration.grants_of(&name);
        let taken = self.only_one(&name).and_then(|()| self.register(component, limits, grants, terms));
        if let Err(error) = taken {
            self.miss(&shown(&name), &file, keys, error);
        }
    }

    /// Until a lock remembers which file a name was accepted for, nobody can tell which of two is meant.
    fn only_one(&self, name: &str) -> Result<()> {
        if self.declared_names.iter().filter(|other| *other == name).count() < 2 {
            return Ok(());
        }
        let message = format!("more than one installed file declares the name {}: remove all but one", shown(name));
        Err(Error::load(Code::DuplicateName, message))
    }

    /// Loads the contributors that the caller named by their files.
    ///
    /// # Errors
    /// Whatever is wrong with the first that cannot be loaded.
    pub(super) fn load_named(&mut self, sandbox: &Sandbox, files: &[PathBuf], grants: &Grants) -> Result<()> {
        for file in files {
            let loaded = read_component(file).and_then(|bytes| Loaded::new(sandbox, file, bytes));
            let terms = Terms { values: self.configuration.values, ..Terms::default() };
            let limits = self.configuration.limits;
            loaded
                .and_then(|component| self.register(component, limits, grants.clone(), terms))
                .map_err(|error| error.in_file(file))?;
        }
        Ok(())
    }

    fn register(&mut self, component: Loaded, limits: Limits, grants: Grants, terms: Terms) -> Result<()> {
        let mut contributor = component.contributor.with_limits(limits).with_grants(grants.clone());
        if terms.show_guest_text {
            contributor = contributor.show_guest_text();
        }
        let (imports, log) = (contributor.imports(), contributor.log());
        let registration = self.registry.register_under(Arc::new(contributor), terms)?;
        self.registered.push(registration.declared());
        let (file, digest) = (component.file, component.digest);
        self.contributors.push(HostedContributor { registration, file, digest, imports, grants, log });
        Ok(())
    }

    fn miss(&mut self, label: &str, file: &Path, keys: Vec<Key>, error: Error) {
        let error = error.in_file(file);
        self.warnings.push(format!("an installed contributor is missing from every overlay: {error}"));
        let file = Some(file.to_owned());
        self.missing.push(Missing { label: label.to_owned(), keys, file, required: false, error });
    }

    /// Finds what the configuration speaks of and is not there. Before contributors are named by their
    /// files, since no section applies to those, whatever name they give themselves.
    pub(super) fn compare_with_configuration(&mut self) {
        self.require();
        self.warn_of_idle_sections();
    }

    /// Tells the registry what is missing, and answers with what was loaded and what people should know.
    pub(super) fn finish(self) -> (Vec<HostedContributor>, Vec<String>) {
        self.registry.set_missing(self.missing);
        (self.contributors, self.warnings)
    }

    /// Marks what the operator requires and is not there.
    fn require(&mut self) {
        let required = self.configuration.contributors.iter().filter(|(_, settings)| settings.required);
        for (name, settings) in required {
            if self.registered.iter().any(|declared| declared.name() == name) {
                continue;
            }
            if let Some(missing) = self.missing.iter_mut().find(|missing| missing.label == name.as_str()) {
                missing.required = true;
                continue;
            }
            let why =
                if settings.enabled { "no installed file that could be loaded declares it" } else { "it is disabled" };
            let message = format!("the configuration requires {name}, and {why}: install it, or set required = false");
            let error = Error::load(Code::Unreadable, message).by(name);
            self.missing.push(Missing { label: name.to_string(), keys: Vec::new(), file: None, required: true, error });
        }
    }

    /// What of a section's grants and settings changes nothing.
    fn idle_grants(&self, name: &ContributorName, settings: &ContributorSettings) -> Option<&'static str> {
        let has_settings = !settings.settings.0.is_empty();
        if self.contributors.iter().all(|hosted| hosted.name() != *name) {
            let idle = has_settings || !settings.grants.is_empty();
            return idle.then_some("is the host's own, so that grants and settings change nothing: remove them");
        }
        let unread = has_settings && settings.grants.config.is_none();
        unread.then_some("has settings that it may not read: grant it config = true, or remove them")
    }

    /// A section for a name that nobody has is a slip of the pen, or waits for its contributor.
    fn warn_of_idle_sections(&mut self) {
        for (name, settings) in &self.configuration.contributors {
            if let Some(declared) = self.registered.iter().find(|declared| declared.name() == name) {
                for key in settings.terms.keys.keys().filter(|key| declared.find(key.as_str()).is_none()) {
                    let keys = declared.variables().iter().map(|variable| variable.key.as_str());
                    let hint = did_you_mean(key.as_str(), keys);
                    self.warnings
                        .push(format!("{}: {name} declares no {key}{hint}", self.configuration.place_of(settings)));
                }
                if let Some(idle) = self.idle_grants(name, settings) {
                    self.warnings.push(format!("{}: {name} {idle}", self.configuration.place_of(settings)));
                }
            } else if !self.declared_names.iter().any(|declared| declared == name.as_str()) {
                let hint = did_you_mean(name.as_str(), self.declared_names.iter().map(String::as_str));
                self.warnings.push(format!(
                    "{}: no installed contributor is named {name}{hint}",
                    self.configuration.place_of(settings)
                ));
            }
        }
    }
}

/// What to call a file whose contributor's name nobody knows.
fn label_of(file: &Path) -> String {
    let name = file.file_name().unwrap_or(file.as_os_str());
    shown(&name.to_string_lossy())
}

/// The keys of a declaration that could be in an overlay.
fn keys_of(declaration: &Declaration) -> Vec<Key> {
    let keys = declaration.variables.iter().filter_map(|variable| Key::new(&variable.key).ok());
    keys.filter(|key| !key.is_reserved()).collect()
}

fn did_you_mean<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> String {
    match crate::installation::nearest(name, known) {
        Some(nearest) => format!("; did you mean {}?", shown(nearest)),
        None => String::new(),
    }
}
