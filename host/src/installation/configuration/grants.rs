//! What a section of the configuration grants, and what a flag of the command line does: the same names, read
//! by the same code.

mod flags;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::reader::{Section, Setting};
use crate::contract::is_managed_name;
use crate::error::Result;
use crate::facts;
use crate::home::{expand_tilde, normalise};
use crate::sandbox::{Extensions, Grants, Settings, Workspace, WorkspaceKind};
use crate::text::{is_blank, shown_within};

pub use flags::read_grants;

/// Begins the names under which facts are read, beside the settings.
const FACTS: &str = "facts.";

/// Stands for every extension.
const EVERY: &str = "*";

/// The most bytes of a name that a message repeats.
const MAX_SHOWN_NAME_BYTES: usize = 128;

/// What is said of each grant, as far as anything is.
#[derive(Default)]
struct Said {
    workspace: Option<WorkspaceKind>,
    within: Option<PathBuf>,
    env: BTreeSet<String>,
    facts: BTreeSet<String>,
    extensions: Option<Extensions>,
    config: Option<bool>,
    clock: Option<bool>,
    random: Option<bool>,
}

/// The grants of a section; `settings` are what it may read if it may read them.
pub(super) fn of_section(section: &mut Section<'_>, settings: &Settings) -> Result<Grants> {
    let mut said = read(section, None)?;
    said.facts = section.setting("facts").map(|setting| facts(&setting)).transpose()?.unwrap_or_default();
    if said.workspace.is_none() {
        section.refuse("within", |setting| {
            setting.wrong("bounds a workspace, and none is granted: set workspace, or remove it")
        })?;
    }
    Ok(said.grants(settings))
}

/// The settings of a contributor.
pub(super) fn settings(section: &mut Section<'_>) -> Result<Settings> {
    let mut settings = Settings::default();
    section.each(|setting| {
        let name = setting.name();
        if name.is_empty() || name.contains('\0') {
            return Err(setting.error("this setting has no name that could be asked for: give it one"));
        }
        if name.starts_with(FACTS) {
            return Err(setting.wrong("has a name that facts have: choose one that does not begin with facts."));
        }
        settings.0.insert(name.to_owned(), setting.scalar()?);
        Ok(())
    })?;
    Ok(settings)
}

/// Reads a table of grants but for facts, which flags do not grant. A path that is not absolute is taken from `base`, if there is one.
fn read(section: &mut Section<'_>, base: Option<&Path>) -> Result<Said> {
    section.refuse("network", |setting| setting.error("there is no grant of the network: remove it"))?;
    let workspace = section.setting("workspace");
    let workspace = workspace.map(|setting| setting.choice(WorkspaceKind::ALL, WorkspaceKind::as_str)).transpose()?;
    Ok(Said {
        workspace,
        within: section.setting("within").map(|setting| folder(&setting, base)).transpose()?,
        env: section.setting("env").map(|setting| variables(&setting)).transpose()?.unwrap_or_default(),
        facts: BTreeSet::new(),
        extensions: section.setting("extensions").map(|setting| extensions(&setting)).transpose()?,
        config: section.setting("config").map(|setting| setting.flag()).transpose()?,
        clock: section.setting("clock").map(|setting| setting.flag()).transpose()?,
        random: section.setting("random").map(|setting| setting.flag()).transpose()?,
    })
}

impl Said {
    fn grants(self, settings: &Settings) -> Grants {
        let within = self.within;
        Grants {
            config: self.config.unwrap_or_default().then(|| settings.clone()),
            env: self.env,
            facts: self.facts,
            extensions: self.extensions.unwrap_or_default(),
            workspace: self.workspace.map(|kind| Workspace { kind, within }),
            clock: self.clock.unwrap_or_default(),
            random: self.random.unwrap_or_default(),
        }
    }

    /// Adds what is said later: to lists it is added, of the rest it takes the place.
    fn add(&mut self, later: Self) {
        self.workspace = later.workspace.or(self.workspace);
        self.within = later.within.or(self.within.take());
        self.env.extend(later.env);
        self.extensions = match (self.extensions.take(), later.extensions) {
            (Some(Extensions::Named(names)), Some(Extensions::Named(more))) => {
                Some(Extensions::Named(names.into_iter().chain(more).collect()))
            }
            (Some(Extensions::All), _) => Some(Extensions::All),
            (before, later) => later.or(before),
        };
        self.config = later.config.or(self.config);
        self.clock = later.clock.or(self.clock);
        self.random = later.random.or(self.random);
    }
}

fn folder(setting: &Setting<'_>, base: Option<&Path>) -> Result<PathBuf> {
    let text = setting.text("a folder", r#""~/src""#)?;
    if is_blank(text) || text.contains('\0') {
        return Err(setting.wrong("names no folder: name one, or leave it out"));
    }
    let path = expand_tilde(text, dirs::home_dir().as_deref())
        .ok_or_else(|| setting.wrong("begins with ~, and the user's home is not known: name the folder in full"))?;
    if path.is_absolute() {
        return Ok(path);
    }
    let absolute = base.and_then(|base| normalise(&path, Some(base)));
    absolute.ok_or_else(|| setting.wrong("is not an absolute path: begin it with / or ~/"))
}

fn variables(setting: &Setting<'_>) -> Result<BTreeSet<String>> {
    let names = setting.texts("a list of names of variables", r#"["CI"]"#)?;
    let check = |(element, name): (Setting<'_>, &str)| {
        if name.is_empty() || name.contains(['=', '\0']) {
            return Err(element.wrong(format!("has \"{}\", which no variable is called: remove it", shown_name(name))));
        }
        if is_managed_name(name.as_bytes()) {
            return Err(element.wrong(format!(
                "has {}, a managed name, and whatever is inherited under one need not be true: remove it",
                shown_name(name)
            )));
        }
        Ok(name.to_owned())
    };
    names.into_iter().map(check).collect()
}

fn facts(setting: &Setting<'_>) -> Result<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    for (element, name) in setting.texts("a list of names of facts", r#"["cluster"]"#)? {
        facts::check_name(name)
            .map_err(|error| element.wrong(format!("has one that cannot be: {}", error.message())))?;
        names.insert(name.to_owned());
    }
    Ok(names)
}

fn extensions(setting: &Setting<'_>) -> Result<Extensions> {
    const EXPECTED: &str = r#"a list of names, or "*" for all"#;
    const EXAMPLE: &str = r#"["com.acme.ticket"]"#;
    if setting.is_text() {
        let text = setting.text(EXPECTED, EXAMPLE)?;
        return if text == EVERY {
            Ok(Extensions::All)
        } else {
            Err(setting.expected(&format!("\"{}\"", shown_name(text)), EXPECTED, EXAMPLE))
        };
    }
    let mut names = BTreeSet::new();
    let mut all = false;
    for (element, name) in setting.texts(EXPECTED, EXAMPLE)? {
        match name {
            EVERY => all = true,
            "" => return Err(element.wrong("has an empty name: remove it")),
            name if name.contains(EVERY) => {
                return Err(element.wrong(format!(
                    "has \"{}\", and names are no patterns: name each extension, or grant all by \"*\"",
                    shown_name(name)
                )));
            }
            name => _ = names.insert(name.to_owned()),
        }
    }
    Ok(if all { Extensions::All } else { Extensions::Named(names) })
}

fn shown_name(name: &str) -> String {
    shown_within(name, MAX_SHOWN_NAME_BYTES)
}
