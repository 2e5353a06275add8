//! Any declarations and answers of native contributors, registered and collected.
//!
//! An input is text, one fact a line: a letter, a space, and words with a space between them. `\n`, `\0`, `\s` and
//! `\\` in a word stand for a newline, a NUL, a space and a backslash.
//!
//! | line | means |
//! | --- | --- |
//! | `c NAME` | a contributor, which the lines down to the next one are about |
//! | `d KEY DESCRIPTION` · `s KEY DESCRIPTION` | it declares a variable, or a sensitive one |
//! | `D COUNT` | it declares so many variables, `DSH_V0` and on |
//! | `r KEY VALUE` · `R KEY COUNT VALUE` | it returns a value, or one that is a text so many times over |
//! | `V COUNT VALUE` | it returns a value for each of so many variables, `DSH_V0` and on |
//! | `g WORDS` · `f CODE WORDS` | it fails in its own words, or in the host's |
//! | `w` | it may wait |
//! | `l COUNT BYTES` | it may return so many values of so many bytes |
//! | `o` · `v VALUE` | where it fails, its keys are left out, or have a value |
//! | `O KEY` · `F KEY` · `U KEY VALUE` | the same for one key: left out, no overlay, or a value |
//! | `m KEY EXPRESSION` | the shape that a key's values must have |
//! | `t` | its own words are shown although it has sensitive values |

use std::sync::Arc;

use dsh_env::contract::{Binding, Contributor, Deadline, Declaration, Execution, Failure, Key, Variable};
use dsh_env::registry::{KeyTerms, OnFailure, Overlay, Registration, Registry, Shape, Terms};
use dsh_env::{Code, Error, Stage};

use super::checks;

/// In an error this text may come from nothing but a sensitive value: it is in none of the host's words.
const MARK: &str = "§§";

/// The most bytes that a repeated text is made of.
const MAX_REPEATED_BYTES: usize = 256 * 1024;

/// The most variables that one line declares or returns.
const MAX_COUNT: usize = 200;

/// Whatever is declared and returned, an overlay has nothing but what was declared by whoever returned it and is
/// acceptable, all of that, and an error says whose and at which stage.
pub fn run(bytes: &[u8]) {
    let registry = checks::registry();
    let mut taken: Vec<(Said, Registration)> = Vec::new();
    for said in read(&String::from_utf8_lossy(bytes)) {
        let before = registry.list();
        match registry.register_under(Arc::new(said.clone()), said.terms.clone()) {
            Ok(registration) => {
                accepted(&said, &taken);
                taken.push((said, registration));
            }
            Err(error) => {
                checks::error(&error);
                assert_eq!(error.stage(), Stage::Load, "{error}");
                assert_eq!(registry.list(), before, "a refused contributor changed something");
            }
        }
    }
    let collected = collect(&registry, &taken);
    assert_eq!(collected, collect(&registry, &taken), "the same contributors gave two overlays");
    drop(taken);
    assert!(registry.list().iter().all(|variable| variable.contributor == "host"), "{:?}", registry.list());
}

/// What was registered keeps the rules, by itself and beside the others.
fn accepted(said: &Said, others: &[(Said, Registration)]) {
    let variables = &said.declaration.variables;
    assert!(checks::is_name(&said.declaration.name), "{:?}", said.declaration);
    assert!(variables.len() <= 128, "{} variables", variables.len());
    for (at, variable) in variables.iter().enumerate() {
        let key = variable.key.as_str();
        assert!(checks::is_key(key) && !checks::is_reserved(key), "{key:?}");
        let description = &variable.description;
        assert!(!description.trim().is_empty() && description.len() <= 1024, "{description:?}");
        assert!(!description.chars().any(char::is_control), "{description:?}");
        assert!(variables[..at].iter().all(|other| other.key != key), "{key} is declared twice");
        assert!(others.iter().all(|(other, _)| other.variable(key).is_none()), "{key} has two owners");
    }
    assert!(others.iter().all(|(other, _)| other.declaration.name != said.declaration.name), "one name for two");
}

/// What is in an overlay, or the code that there is none for.
type Collected = Result<Vec<(String, String)>, Code>;

fn collect(registry: &Registry, taken: &[(Said, Registration)]) -> Collected {
    match registry.collect(&checks::execution()) {
        Ok(overlay) => {
            checks::overlay(&overlay);
            as_said(&overlay, taken);
            Ok(overlay.iter().map(|entry| (entry.key.to_string(), entry.value.expose().to_owned())).collect())
        }
        Err(error) => {
            checks::error(&error);
            of_one(&error, taken);
            Err(error.code())
        }
    }
}

/// Nothing is in the overlay that was not declared and returned, and all of that is, unless it is named as amiss.
fn as_said(overlay: &Overlay, taken: &[(Said, Registration)]) {
    let degraded = |key: &str| overlay.degraded().iter().any(|other| other.as_str() == key);
    for entry in overlay {
        let Some(owner) = &entry.contributor else { continue };
        let key = entry.key.as_str();
        let (said, _) = taken.iter().find(|(said, _)| said.declaration.name == owner.as_str()).unwrap();
        let variable = said.variable(key).unwrap_or_else(|| panic!("{owner} did not declare {key}"));
        assert_eq!(entry.value.is_sensitive(), variable.sensitive, "{key}");
        let value = entry.value.expose();
        if degraded(key) {
            assert_eq!(said.terms.on_failure(&entry.key), &OnFailure::Value(value.to_owned()), "{key}");
        } else {
            assert!(said.is_believable(), "{owner} said more than it declared, and {key} is there");
            assert!(said.returns(key).eq([value]), "{key} has another value than was returned");
            assert!(value.len() <= said.terms.values.bytes, "{key} has {} bytes", value.len());
            assert!(said.terms.shape(&entry.key).is_none_or(|shape| shape.matches(value)), "{key} has another shape");
        }
    }
    for (said, _) in taken {
        for Variable { key, .. } in &said.declaration.variables {
            let is_silent = said.is_believable() && said.returns(key).next().is_none();
            assert!(is_silent || overlay.get(key).is_some() || degraded(key), "{key} is lost");
        }
    }
    let shown = format!("{:?}", overlay.iter().collect::<Vec<_>>());
    assert!(!shown.contains(MARK), "a value is shown: {shown}");
    for report in overlay.reports() {
        let affected = report.affected.iter().map(|affected| &affected.error);
        for error in affected.chain(&report.error) {
            checks::error(error);
            of_one(error, taken);
        }
    }
}

/// The error is of a contributor that is there, and shows nothing of a sensitive one.
fn of_one(error: &Error, taken: &[(Said, Registration)]) {
    let host = matches!(error.code(), Code::OverlayTimeout | Code::Cancelled | Code::Overloaded | Code::Internal);
    let configured = error.code() == Code::InvalidConfiguration && error.stage() == Stage::Host;
    assert_eq!(error.stage(), if host || configured { Stage::Host } else { Stage::Resolve }, "{error}");
    let Some(name) = error.contributor() else {
        return assert_eq!(error.code(), Code::OverlayTooLarge, "{error} is nobody's");
    };
    let (said, _) = taken.iter().find(|(said, _)| said.declaration.name == name).unwrap();
    let worded_by_host = matches!(&said.answer, Err(failure) if failure.message().contains(MARK));
    let shape = said.terms.keys.values().filter_map(|terms| terms.shape.as_ref());
    let of_operator = shape.into_iter().any(|shape| shape.as_str().contains(MARK));
    let sensitive = said.declaration.variables.iter().any(|variable| variable.sensitive);
    if sensitive && !said.terms.show_guest_text && !worded_by_host && !of_operator {
        assert!(!error.to_string().contains(MARK), "guest text of {name} is shown: {error}");
    }
}

/// A contributor as an input describes it.
#[derive(Clone)]
struct Said {
    declaration: Declaration,
    answer: Result<Vec<Binding>, Failure>,
    waits: bool,
    terms: Terms,
}

impl Said {
    fn new(name: String) -> Self {
        Self { declaration: Declaration::new(name), answer: Ok(Vec::new()), waits: false, terms: Terms::default() }
    }

    fn variable(&self, key: &str) -> Option<&Variable> {
        self.declaration.variables.iter().find(|variable| variable.key == key)
    }

    fn returns<'s>(&'s self, key: &str) -> impl Iterator<Item = &'s str> {
        self.answer.iter().flatten().filter(move |binding| binding.key == key).map(|binding| binding.value.as_str())
    }

    /// Whether it answered, with nothing but what it declared, each key once, and no more than it may.
    fn is_believable(&self) -> bool {
        let Ok(bindings) = &self.answer else { return false };
        let once = |binding: &Binding| self.variable(&binding.key).is_some() && self.returns(&binding.key).count() == 1;
        bindings.len() <= self.terms.values.count && bindings.iter().all(once)
    }

    fn return_value(&mut self, key: String, value: String) {
        if let Ok(bindings) = &mut self.answer {
            bindings.push(Binding { key, value });
        }
    }

    fn terms_of(&mut self, key: &str) -> Option<&mut KeyTerms> {
        Some(self.terms.keys.entry(Key::new(key).ok()?).or_default())
    }

    fn take(&mut self, letter: &str, rest: &str) {
        let (first, others) = rest.split_once(' ').unwrap_or((rest, ""));
        let (key, text) = (unescaped(first), unescaped(others));
        let count = first.parse::<usize>().unwrap_or_default().min(MAX_COUNT);
        match letter {
            "d" | "s" => {
                self.declaration.variables.push(Variable { key, description: text, sensitive: letter == "s" });
            }
            "D" => {
                for number in 0..count {
                    self.declaration.variables.push(Variable {
                        key: format!("DSH_V{number}"),
                        description: "One of many.".to_owned(),
                        sensitive: false,
                    });
                }
            }
            "r" => self.return_value(key, text),
            "R" => {
                let (times, text) = others.split_once(' ').unwrap_or((others, "x"));
                let text = unescaped(text);
                let most = MAX_REPEATED_BYTES / text.len().max(1);
                self.return_value(key, text.repeat(times.parse::<usize>().unwrap_or_default().min(most)));
            }
            "V" => (0..count).for_each(|number| self.return_value(format!("DSH_V{number}"), text.clone())),
            "g" => self.answer = Err(Failure::guest(unescaped(rest))),
            "f" => {
                let code = Code::ALL.iter().find(|code| code.as_str() == first).copied();
                // What says nothing is its own fault.
                let words = if text.trim().is_empty() { "words".to_owned() } else { text };
                self.answer = Err(Failure::new(code.unwrap_or(Code::GuestError), words));
            }
            "w" => self.waits = true,
            "l" => {
                let bytes = others.parse::<usize>().unwrap_or_default().min(MAX_REPEATED_BYTES);
                (self.terms.values.count, self.terms.values.bytes) = (count, bytes);
            }
            "o" => self.terms.on_failure = OnFailure::Omit,
            "v" => self.terms.on_failure = OnFailure::Value(unescaped(rest)),
            "t" => self.terms.show_guest_text = true,
            _ => self.take_terms(letter, &key, text),
        }
    }

    fn take_terms(&mut self, letter: &str, key: &str, text: String) {
        let Some(terms) = self.terms_of(key) else { return };
        match letter {
            "O" => terms.on_failure = Some(OnFailure::Omit),
            "F" => terms.on_failure = Some(OnFailure::Fail),
            "U" => terms.on_failure = Some(OnFailure::Value(text)),
            "m" => terms.shape = Shape::new(&text).ok(),
            _ => {}
        }
    }
}

impl Contributor for Said {
    fn declare(&self) -> Declaration {
        self.declaration.clone()
    }

    fn resolve(&self, _: &Execution, _: &Deadline) -> Result<Vec<Binding>, Failure> {
        self.answer.clone()
    }

    fn may_wait(&self) -> bool {
        self.waits
    }
}

fn read(text: &str) -> Vec<Said> {
    let mut all: Vec<Said> = Vec::new();
    for line in text.split('\n') {
        let (letter, rest) = line.split_once(' ').unwrap_or((line, ""));
        if letter == "c" {
            all.push(Said::new(unescaped(rest)));
        } else if let Some(said) = all.last_mut() {
            said.take(letter, rest);
        }
    }
    all
}

fn unescaped(word: &str) -> String {
    let mut out = String::new();
    let mut characters = word.chars();
    while let Some(character) = characters.next() {
        let meant = match (character, characters.as_str().chars().next()) {
            ('\\', Some('n')) => '\n',
            ('\\', Some('0')) => '\0',
            ('\\', Some('s')) => ' ',
            ('\\', Some('\\')) => '\\',
            _ => {
                out.push(character);
                continue;
            }
        };
        out.push(meant);
        characters.next();
    }
    out
}
