//! A name of a table with its value, read as one type or another.

use std::ops::Range;
use std::time::Duration;

use toml::Spanned;
use toml::de::{DeInteger, DeValue};

use super::{Document, Section, Title, shown_name};
use crate::error::{Error, Result};
use crate::installation::configuration::units;

/// A name and its value.
pub(in crate::installation::configuration) struct Setting<'d> {
    pub(super) document: &'d Document<'d>,
    /// Of the table that it is in.
    pub(super) title: Title,
    pub(super) name: &'d str,
    pub(super) at: Range<usize>,
    pub(super) value: &'d Spanned<DeValue<'d>>,
}

impl<'d> Setting<'d> {
    /// The name.
    pub(in crate::installation::configuration) fn name(&self) -> &'d str {
        self.name
    }

    /// The line, from 1, that the name is in.
    pub(in crate::installation::configuration) fn line(&self) -> usize {
        self.document.line(self.at.start)
    }

    /// An error about the name.
    pub(in crate::installation::configuration) fn error(&self, message: impl std::fmt::Display) -> Error {
        self.document.error(self.at.start, message)
    }

    /// An error about the value, which `wrong` says something of: `is 0s: at least 1ms is needed`.
    pub(in crate::installation::configuration) fn wrong(&self, wrong: impl std::fmt::Display) -> Error {
        let at = match self.value.get_ref() {
            // Of a table only the beginning is known, which is not always near its name.
            DeValue::Table(_) => self.at.start,
            _ => self.value.span().start,
        };
        self.document.error(at, format!("{} {wrong}", self.title.of(self.name)))
    }

    /// An error about a value that is something else than it should be.
    pub(in crate::installation::configuration) fn expected(&self, found: &str, expected: &str, example: &str) -> Error {
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
    pub(in crate::installation::configuration) fn text(&self, expected: &str, example: &str) -> Result<&'d str> {
        self.value.get_ref().as_str().ok_or_else(|| self.another_type(expected, example))
    }

    /// Whether the value is text.
    pub(in crate::installation::configuration) fn is_text(&self) -> bool {
        self.value.get_ref().is_str()
    }

    /// Whether the value is a table.
    pub(in crate::installation::configuration) fn is_table(&self) -> bool {
        self.value.get_ref().is_table()
    }

    /// Reads the value, which has to be a table.
    pub(in crate::installation::configuration) fn read<T>(
        &self,
        read: impl FnOnce(&mut Section<'d>) -> Result<T>,
    ) -> Result<T> {
        self.section()?.read(read)
    }

    pub(super) fn section(&self) -> Result<Section<'d>> {
        let title = self.title.below(self.name);
        match self.value.get_ref() {
            DeValue::Table(table) => Ok(Section::new(self.document, title, table)),
            _ => Err(self.another_type("a table", &format!("{{ … }}, or its own section [{}]", title.0))),
        }
    }

    /// One of a few words.
    pub(in crate::installation::configuration) fn choice<T: Copy + Default>(
        &self,
        choices: &[T],
        word: impl Fn(T) -> &'static str,
    ) -> Result<T> {
        let words: Vec<String> = choices.iter().map(|choice| format!("\"{}\"", word(*choice))).collect();
        let expected = match words.split_last() {
            Some((last, others)) if !others.is_empty() => format!("{} or {last}", others.join(", ")),
            _ => words.concat(),
        };
        let example = format!("\"{}\"", word(T::default()));
        let text = self.text(&expected, &example)?;
        let chosen = choices.iter().find(|choice| word(**choice) == text).copied();
        chosen.ok_or_else(|| self.expected(&format!("\"{}\"", shown_name(text)), &expected, &example))
    }

    /// The elements of a list of texts, each with its place.
    pub(in crate::installation::configuration) fn texts(
        &self,
        expected: &str,
        example: &str,
    ) -> Result<Vec<(Self, &'d str)>> {
        let elements = self.value.get_ref().as_array().ok_or_else(|| self.another_type(expected, example))?;
        let text = |value: &'d Spanned<DeValue<'d>>| {
            let element = Self {
                title: self.title.clone(),
                at: self.at.clone(),
                value,
                document: self.document,
                name: self.name,
            };
            let text = value.get_ref().as_str().ok_or_else(|| {
                element.wrong(format!(
                    "has something that is no string: expected {expected}, such as {} = {example}",
                    self.name
                ))
            })?;
            Ok((element, text))
        };
        elements.iter().map(text).collect()
    }

    /// A text, a whole number, or true or false: as text. No message repeats it.
    pub(in crate::installation::configuration) fn scalar(&self) -> Result<String> {
        const EXPECTED: &str = "a string, a whole number, or true or false";
        match self.value.get_ref() {
            DeValue::String(text) => Ok(text.to_string()),
            DeValue::Boolean(flag) => Ok(flag.to_string()),
            DeValue::Integer(integer) => match i64::from_str_radix(integer.as_str(), integer.radix()) {
                Ok(number) => Ok(number.to_string()),
                Err(_) => Err(self.wrong("is a number that is too large: write it as a string")),
            },
            _ => Err(self.another_type(EXPECTED, "\"…\"")),
        }
    }

    /// True or false.
    pub(in crate::installation::configuration) fn flag(&self) -> Result<bool> {
        self.value.get_ref().as_bool().ok_or_else(|| self.another_type("true or false", "true"))
    }

    /// A number; a negative one is none, and one that is too large to count is the largest.
    pub(super) fn integer(&self, example: usize) -> Result<usize> {
        let wrong = || self.another_type("a whole number", &example.to_string());
        let integer = self.value.get_ref().as_integer().ok_or_else(wrong)?;
        let digits = integer.as_str().trim_start_matches('+');
        if digits.starts_with('-') {
            return Ok(0);
        }
        Ok(usize::from_str_radix(digits, integer.radix()).unwrap_or(usize::MAX))
    }

    /// A time within bounds.
    pub(in crate::installation::configuration) fn time(
        &self,
        example: Duration,
        least: Duration,
        most: Duration,
    ) -> Result<Duration> {
        let time = self.amount(units::time, units::TIME_SYNTAX, &units::show_time(example))?;
        self.within(time, least, most, units::show_time)
    }

    /// A number with a unit.
    pub(super) fn amount<T>(&self, parse: impl Fn(&str) -> Option<T>, syntax: &str, example: &str) -> Result<T> {
        let example = format!("\"{example}\"");
        let text = self.text(syntax, &example)?;
        parse(text).ok_or_else(|| self.expected(&format!("\"{}\"", shown_name(text)), syntax, &example))
    }

    /// The value, unless it is out of bounds.
    pub(super) fn within<T: PartialOrd>(&self, value: T, least: T, most: T, show: impl Fn(T) -> String) -> Result<T> {
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
