//! A strict reader of one TOML document that says where a mistake is.
//!
//! A [`Section`] is a table that is asked for its settings by their names. It remembers the names, so that
//! what it has beyond them is an error, and what may have been meant comes from the code that reads: there
//! is no second list of names. [`Section::section`] is the only way into a table, and it does not end
//! before all of it was asked for.

mod setting;

use std::path::Path;
use std::time::Duration;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::units;
use crate::error::{Code, Error, Result};
use crate::installation::nearest;
use crate::text::{shown, shown_within};
pub(super) use setting::Setting;

/// The most bytes of a name or a short value that a message repeats.
const MAX_SHOWN_NAME_BYTES: usize = 128;

/// The text of a configuration, and where its lines begin.
pub(super) struct Document<'t> {
    source: Source<'t>,
    text: &'t str,
    line_starts: Vec<usize>,
}

/// What a text was read from.
enum Source<'t> {
    File(&'t Path),
    /// A flag of the command line, of so little text that nobody needs to be told the place.
    Flag(&'static str),
}

impl<'t> Document<'t> {
    pub(super) fn new(file: &'t Path, text: &'t str) -> Self {
        let after_newlines = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        Self { source: Source::File(file), text, line_starts: std::iter::once(0).chain(after_newlines).collect() }
    }

    /// The value of a flag, whatever its syntax.
    pub(super) fn of_flag(flag: &'static str, text: &'t str) -> Self {
        Self { source: Source::Flag(flag), text, line_starts: vec![0] }
    }

    /// Parses the text and reads the table that it is.
    pub(super) fn read<T>(&self, read: impl FnOnce(&mut Section<'_>) -> Result<T>) -> Result<T> {
        let table = DeTable::parse(self.text).map_err(|error| self.not_toml(&error))?;
        self.read_table(table.get_ref(), read)
    }

    /// Parses the text as a value, which has to be a table, and reads that.
    pub(super) fn read_inline<T>(&self, read: impl FnOnce(&mut Section<'_>) -> Result<T>) -> Result<T> {
        let value = DeValue::parse(self.text).map_err(|error| self.not_toml(&error))?;
        let table = value.get_ref().as_table().ok_or_else(|| self.error(0, "this is no table, such as { … }"))?;
        self.read_table(table, read)
    }

    /// Reads a table that was made of the text.
    pub(super) fn read_table<T>(
        &self,
        table: &DeTable<'_>,
        read: impl FnOnce(&mut Section<'_>) -> Result<T>,
    ) -> Result<T> {
        Section::new(self, Title::top(), table).read(read)
    }

    fn not_toml(&self, error: &toml::de::Error) -> Error {
        let at = error.span().map_or(0, |span| span.start);
        self.error(at, format!("this is not valid TOML: {}", shown(error.message())))
    }

    /// An error about what begins at a byte of the text.
    pub(super) fn error(&self, at: usize, message: impl std::fmt::Display) -> Error {
        let file = match self.source {
            Source::File(file) => file,
            Source::Flag(flag) => return Error::host(Code::InvalidConfiguration, format!("{flag}: {message}")),
        };
        let line = self.line(at);
        let start = line.checked_sub(1).and_then(|before| self.line_starts.get(before)).copied().unwrap_or(0);
        let column = self.text.get(start..at).map_or(0, |before| before.chars().count()) + 1;
        let file = shown(&file.display().to_string());
        Error::host(Code::InvalidConfiguration, format!("{file}:{line}:{column}: {message}"))
    }

    /// The line, from 1, that a byte of the text is in.
    fn line(&self, at: usize) -> usize {
        self.line_starts.partition_point(|start| *start <= at)
    }
}

/// Where a table is, as people find it in the file.
#[derive(Clone)]
struct Title(String);

impl Title {
    fn top() -> Self {
        Self(String::new())
    }

    fn below(&self, name: &str) -> Self {
        let bare = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'));
        let name = if bare { name.to_owned() } else { format!("\"{}\"", shown_name(name)) };
        Self(if self.0.is_empty() { name } else { format!("{}.{name}", self.0) })
    }

    /// A name in this table.
    fn of(&self, name: &str) -> String {
        let name = shown_name(name);
        if self.0.is_empty() { format!("\"{name}\"") } else { format!("\"{name}\" in [{}]", self.0) }
    }
}

fn shown_name(name: &str) -> String {
    shown_within(name, MAX_SHOWN_NAME_BYTES)
}

/// A table that is being read.
pub(super) struct Section<'d> {
    document: &'d Document<'d>,
    title: Title,
    table: &'d DeTable<'d>,
    /// What was asked for so far.
    known: Vec<&'static str>,
    /// Whether every name is the operator's own.
    open: bool,
}

impl<'d> Section<'d> {
    fn new(document: &'d Document<'d>, title: Title, table: &'d DeTable<'d>) -> Self {
        Self { document, title, table, known: Vec::new(), open: false }
    }

    fn read<T>(mut self, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let read = read(&mut self)?;
        self.nothing_else()?;
        Ok(read)
    }

    /// The setting of a name, if there is one.
    pub(super) fn setting(&mut self, name: &'static str) -> Option<Setting<'d>> {
        self.known.push(name);
        self.find(name)
    }

    /// Reads the table of a name, if there is one.
    pub(super) fn section<T>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(&mut Section<'d>) -> Result<T>,
    ) -> Result<Option<T>> {
        self.setting(name).map(|setting| setting.section()?.read(read)).transpose()
    }

    /// Reads every table in this one, whose names are the operator's own.
    pub(super) fn each_section(
        &mut self,
        mut read: impl FnMut(&Setting<'d>, &mut Section<'d>) -> Result<()>,
    ) -> Result<()> {
        for (name, value) in self.table {
            let setting = self.entry(name, value);
            setting.section()?.read(|section| read(&setting, section))?;
        }
        self.open = true;
        Ok(())
    }

    /// Refuses a setting that is documented and that this version does not have, saying what to do instead.
    pub(super) fn lacks(&self, name: &'static str, instead: &str) -> Result<()> {
        self.refuse(name, |setting| {
            setting.error(format!("this version does not have {}: {instead}", self.title.of(name)))
        })
    }

    /// Refuses a setting that people may well write here. It is none of those that a hint may name.
    pub(super) fn refuse(&self, name: &'static str, why: impl FnOnce(&Setting<'d>) -> Error) -> Result<()> {
        self.find(name).map_or(Ok(()), |setting| Err(why(&setting)))
    }

    /// A setting that is true or false.
    pub(super) fn flag(&mut self, name: &'static str, default: bool) -> Result<bool> {
        self.setting(name).map_or(Ok(default), |setting| setting.flag())
    }

    /// A time of at least a millisecond.
    pub(super) fn time(&mut self, name: &'static str, default: Duration, most: Duration) -> Result<Duration> {
        self.time_within(name, default, Duration::from_millis(1), most)
    }

    /// A time within bounds.
    pub(super) fn time_within(
        &mut self,
        name: &'static str,
        default: Duration,
        least: Duration,
        most: Duration,
    ) -> Result<Duration> {
        self.setting(name).map_or(Ok(default), |setting| setting.time(default, least, most))
    }

    /// A size of at least `least` bytes.
    pub(super) fn size(&mut self, name: &'static str, default: usize, least: usize, most: usize) -> Result<usize> {
        let Some(setting) = self.setting(name) else { return Ok(default) };
        let example = units::show_size(default);
        let size = setting.amount(units::size, units::SIZE_SYNTAX, &example)?;
        setting.within(size, least, most, units::show_size)
    }

    /// A number of things, at least one.
    pub(super) fn count(&mut self, name: &'static str, default: usize, most: usize) -> Result<usize> {
        let Some(setting) = self.setting(name) else { return Ok(default) };
        let count = setting.integer(default)?;
        setting.within(count, 1, most, |count| count.to_string())
    }

    /// One of a few words.
    pub(super) fn choice<T: Copy + Default>(
        &mut self,
        name: &'static str,
        choices: &[T],
        word: impl Fn(T) -> &'static str,
    ) -> Result<T> {
        self.setting(name).map_or(Ok(T::default()), |setting| setting.choice(choices, word))
    }

    /// Every setting of this table, whose names are the operator's own.
    pub(super) fn each(&mut self, mut read: impl FnMut(&Setting<'d>) -> Result<()>) -> Result<()> {
        self.open = true;
        self.table.iter().try_for_each(|(name, value)| read(&self.entry(name, value)))
    }

    fn find(&self, name: &'static str) -> Option<Setting<'d>> {
        self.table.get_key_value(name).map(|(name, value)| self.entry(name, value))
    }

    fn entry(&self, name: &'d Spanned<std::borrow::Cow<'d, str>>, value: &'d Spanned<DeValue<'d>>) -> Setting<'d> {
        Setting { document: self.document, title: self.title.clone(), name: name.get_ref(), at: name.span(), value }
    }

    /// Refuses the first setting that was not asked for. This comes by itself when the table was read; before it, it
    /// goes before what is said of settings that are missing: the name of one may be misspelt.
    pub(super) fn nothing_else(&self) -> Result<()> {
        let unknown = self.table.keys().filter(|name| !self.open && !self.known.contains(&name.get_ref().as_ref()));
        let Some(name) = unknown.min_by_key(|name| name.span().start) else { return Ok(()) };
        let hint = match nearest(name.get_ref(), self.known.iter().copied()) {
            Some(nearest) => format!("did you mean \"{nearest}\"?"),
            None if self.known.is_empty() => "there are none here".to_owned(),
            None => format!("there are {}", self.known.join(", ")),
        };
        let what = match self.document.source {
            Source::File(_) => "setting",
            Source::Flag(_) => "grant",
        };
        let message = format!("unknown {what} {}: {hint}", self.title.of(name.get_ref()));
        Err(self.document.error(name.span().start, message))
    }
}
