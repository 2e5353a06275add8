//! A strict reader of one TOML document that says where a mistake is.
//!
//! A [`Section`] is a table that is asked for its settings by their names. It remembers the names, so that
//! what it has beyond them is an error, and what may have been meant comes from the code that reads: there
//! is no second list of names. [`Section::section`] is the only way into a table, and it does not end
//! before all of it was asked for.

use std::ops::Range;
use std::path::Path;
use std::time::Duration;

use toml::Spanned;
use toml::de::{DeInteger, DeTable, DeValue};

use super::units;
use crate::error::{Code, Error, Result};
use crate::installation::nearest;
use crate::text::{shown, shown_within};

/// The most bytes of a name or a short value that a message repeats.
const MAX_SHOWN_NAME_BYTES: usize = 128;

/// The text of a configuration, and where its lines begin.
pub(super) struct Document<'t> {
    file: &'t Path,
    text: &'t str,
    line_starts: Vec<usize>,
}

impl<'t> Document<'t> {
    pub(super) fn new(file: &'t Path, text: &'t str) -> Self {
        let after_newlines = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        Self { file, text, line_starts: std::iter::once(0).chain(after_newlines).collect() }
    }

    /// Parses the text and reads the table that it is.
    pub(super) fn read<T>(&self, read: impl FnOnce(&mut Section<'_>) -> Result<T>) -> Result<T> {
        let table = DeTable::parse(self.text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            self.error(at, format!("this is not valid TOML: {}", shown(error.message())))
        })?;
        Section::new(self, Title::top(), table.get_ref()).read(read)
    }

    /// An error about what begins at a byte of the text.
    fn error(&self, at: usize, message: impl std::fmt::Display) -> Error {
        let line = self.line(at);
        let start = line.checked_sub(1).and_then(|before| self.line_starts.get(before)).copied().unwrap_or(0);
        let column = self.text.get(start..at).map_or(0, |before| before.chars().count()) + 1;
        let file = shown(&self.file.display().to_string());
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
        let Some(setting) = self.setting(name) else { return Ok(default) };
        let example = units::show_time(default);
        let time = setting.amount(units::time, units::TIME_SYNTAX, &example)?;
        setting.within(time, Duration::from_millis(1), most, units::show_time)
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
        let Some(setting) = self.setting(name) else { return Ok(T::default()) };
        let words: Vec<String> = choices.iter().map(|choice| format!("\"{}\"", word(*choice))).collect();
        let expected = words.join(" or ");
        let example = format!("\"{}\"", word(T::default()));
        let text = setting.text(&expected, &example)?;
        let chosen = choices.iter().find(|choice| word(**choice) == text).copied();
        chosen.ok_or_else(|| setting.expected(&format!("\"{}\"", shown_name(text)), &expected, &example))
    }

    fn find(&self, name: &'static str) -> Option<Setting<'d>> {
        self.table.get_key_value(name).map(|(name, value)| self.entry(name, value))
    }

    fn entry(&self, name: &'d Spanned<std::borrow::Cow<'d, str>>, value: &'d Spanned<DeValue<'d>>) -> Setting<'d> {
        Setting { document: self.document, title: self.title.clone(), name: name.get_ref(), at: name.span(), value }
    }

    /// Refuses the first setting that was not asked for.
    fn nothing_else(&self) -> Result<()> {
        let unknown = self.table.keys().filter(|name| !self.open && !self.known.contains(&name.get_ref().as_ref()));
        let Some(name) = unknown.min_by_key(|name| name.span().start) else { return Ok(()) };
        let hint = match nearest(name.get_ref(), self.known.iter().copied()) {
            Some(nearest) => format!("did you mean \"{nearest}\"?"),
            None if self.known.is_empty() => "there are none here".to_owned(),
            None => format!("there are {}", self.known.join(", ")),
        };
        let message = format!("unknown setting {}: {hint}", self.title.of(name.get_ref()));
        Err(self.document.error(name.span().start, message))
    }
}

/// A name and its value.
pub(super) struct Setting<'d> {
    document: &'d Document<'d>,
    /// Of the table that it is in.
    title: Title,
    name: &'d str,
    at: Range<usize>,
    value: &'d Spanned<DeValue<'d>>,
}

impl<'d> Setting<'d> {
    /// The name.
    pub(super) fn name(&self) -> &'d str {
        self.name
    }

    /// The line, from 1, that the name is in.
    pub(super) fn line(&self) -> usize {
        self.document.line(self.at.start)
    }

    /// An error about the name.
    pub(super) fn error(&self, message: impl std::fmt::Display) -> Error {
        self.document.error(self.at.start, message)
    }

    /// An error about the value, which `wrong` says something of: `is 0s: at least 1ms is needed`.
    pub(super) fn wrong(&self, wrong: impl std::fmt::Display) -> Error {
        let at = match self.value.get_ref() {
            // Of a table only the beginning is known, which is not always near its name.
            DeValue::Table(_) => self.at.start,
            _ => self.value.span().start,
        };
        self.document.error(at, format!("{} {wrong}", self.title.of(self.name)))
    }

    /// An error about a value that is something else than it should be.
    pub(super) fn expected(&self, found: &str, expected: &str, example: &str) -> Error {
        self.wrong(format!("is {found}: expected {expected}, such as {} = {example}", shown_name(self.name)))
    }

    fn another_type(&self, expected: &str, example: &str) -> Error {
        let found = match self.value.get_ref() {
            DeValue::String(_) => "a string",
            DeValue::Integer(_) => "an integer",
            DeValue::Float(_) => "a float",
            DeValue::Boolean(_) => "a boolean",
            DeValue::Datetime(_) => "a date",
            DeValue::Array(_) => "an array",
            DeValue::Table(_) => "a table",
        };
        self.expected(found, expected, example)
    }

    /// The value as text.
    pub(super) fn text(&self, expected: &str, example: &str) -> Result<&'d str> {
        self.value.get_ref().as_str().ok_or_else(|| self.another_type(expected, example))
    }

    /// Whether the value is a table.
    pub(super) fn is_table(&self) -> bool {
        self.value.get_ref().is_table()
    }

    /// Reads the value, which has to be a table.
    pub(super) fn read<T>(&self, read: impl FnOnce(&mut Section<'d>) -> Result<T>) -> Result<T> {
        self.section()?.read(read)
    }

    fn section(&self) -> Result<Section<'d>> {
        let title = self.title.below(self.name);
        match self.value.get_ref() {
            DeValue::Table(table) => Ok(Section::new(self.document, title, table)),
            _ => Err(self.another_type("a table", &format!("{{ … }}, or its own section [{}]", title.0))),
        }
    }

    fn flag(&self) -> Result<bool> {
        self.value.get_ref().as_bool().ok_or_else(|| self.another_type("true or false", "true"))
    }

    /// A number; a negative one is none, and one that is too large to count is the largest.
    fn integer(&self, example: usize) -> Result<usize> {
        let wrong = || self.another_type("a whole number", &example.to_string());
        let integer = self.value.get_ref().as_integer().ok_or_else(wrong)?;
        let digits = integer.as_str().trim_start_matches('+');
        if digits.starts_with('-') {
            return Ok(0);
        }
        Ok(usize::from_str_radix(digits, integer.radix()).unwrap_or(usize::MAX))
    }

    /// A number with a unit.
    fn amount<T>(&self, parse: impl Fn(&str) -> Option<T>, syntax: &str, example: &str) -> Result<T> {
        let example = format!("\"{example}\"");
        let text = self.text(syntax, &example)?;
        parse(text).ok_or_else(|| self.expected(&format!("\"{}\"", shown_name(text)), syntax, &example))
    }

    /// The value, unless it is out of bounds.
    fn within<T: PartialOrd>(&self, value: T, least: T, most: T, show: impl Fn(T) -> String) -> Result<T> {
        let written = match self.value.get_ref() {
            DeValue::String(text) => format!("\"{}\"", shown_name(text)),
            other => shown_name(other.as_integer().map_or("", DeInteger::as_str)),
        };
        if value < least {
            return Err(self.wrong(format!("is {written}: at least {} is needed", show(least))));
        }
        if value > most {
            return Err(self.wrong(format!("is {written}: at most {} can be allowed", show(most))));
        }
        Ok(value)
    }
}
