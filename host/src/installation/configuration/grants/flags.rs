//! Grants as flags of the command line: one at a time, or as the table of the configuration.

use std::path::Path;

use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

use super::Said;
use crate::error::{Code, Error, Result};
use crate::installation::configuration::reader::{Document, Section};
use crate::sandbox::{Grants, Settings};

/// What messages call the flag.
const FLAG: &str = "--grant";

/// Reads what flags grant, each of which is one of these:
///
/// - the name of a grant that is true or false: `clock`, `random`, `config`;
/// - a name and a value: `workspace=repository`, `within=DIR`; of lists with commas between: `env=CI,LANG`,
///   `extensions=*`;
/// - a setting, and the grant to read it: `config.NAME=VALUE`;
/// - the table of the configuration: `{ workspace = "workdir", env = ["CI"] }`.
///
/// What a later flag says is added to lists, and takes the place of the rest. A folder that is not absolute
/// is taken from the current directory.
///
/// # Errors
/// `invalid-configuration`, as for the configuration, and with the nearest name for an unknown one.
pub fn read_grants<'f>(flags: impl IntoIterator<Item = &'f str>) -> Result<Grants> {
    let base = std::env::current_dir().ok();
    let (mut said, mut settings) = (Said::default(), Settings::default());
    for text in flags {
        let document = Document::of_flag(FLAG, text);
        if let Some(setting) = text.strip_prefix("config.") {
            let (name, value) = take_setting(setting)
                .ok_or_else(|| document.error(0, "a setting has a name and a value, such as config.remote=origin"))?;
            let table = table(name, DeValue::String(value.into()));
            let read = document.read_table(&table, super::settings)?;
            settings.0.extend(read.0);
            said.config = Some(true);
        } else if text.trim_start().starts_with('{') {
            said.add(document.read_inline(|section| read(section, base.as_deref()))?);
        } else {
            let table = one(text);
            said.add(document.read_table(&table, |section| read(section, base.as_deref()))?);
        }
    }
    if said.within.is_some() && said.workspace.is_none() {
        let message = format!("{FLAG}: within bounds a workspace, and none is granted: add {FLAG} workspace=workdir");
        return Err(Error::host(Code::InvalidConfiguration, message));
    }
    Ok(said.grants(&settings))
}

/// Reads a table of grants, of which a flag has all but one.
fn read(section: &mut Section<'_>, base: Option<&Path>) -> Result<Said> {
    section.refuse("facts", |setting| {
        setting.error("only a host that goes on knows facts, and flags grant for one command: install the contributor, and grant it facts in [contributors.NAME] of the configuration")
    })?;
    super::read(section, base)
}

fn take_setting(text: &str) -> Option<(&str, &str)> {
    text.split_once('=').filter(|(name, _)| !name.is_empty())
}

/// A table of what `NAME` or `NAME=VALUE` says.
fn one(text: &str) -> DeTable<'_> {
    let Some((name, value)) = text.split_once('=') else { return table(text, DeValue::Boolean(true)) };
    let value = match (name, value) {
        ("extensions", "*") => DeValue::String(value.into()),
        ("env" | "extensions", names) => {
            let mut array = DeArray::new();
            for name in names.split(',') {
                array.push(unplaced(DeValue::String(name.into())));
            }
            DeValue::Array(array)
        }
        (_, "true") => DeValue::Boolean(true),
        (_, "false") => DeValue::Boolean(false),
        (_, value) => DeValue::String(value.into()),
    };
    table(name, value)
}

fn table<'t>(name: &'t str, value: DeValue<'t>) -> DeTable<'t> {
    let mut table = DeTable::new();
    table.insert(unplaced(name.into()), unplaced(value));
    table
}

/// Nobody is told places in a flag.
fn unplaced<T>(value: T) -> Spanned<T> {
    Spanned::new(0..0, value)
}
