//! Any text as the configuration of a home.

use std::path::Path;
use std::time::Duration;

use dsh_env::installation::Configuration;
use dsh_env::sandbox::Limits;
use dsh_env::{Code, Stage};

use super::checks;

const FILE: &str = "dsh-env.toml";

/// Either it is read, and nothing in it is beyond what an operator may allow, or the error says where it is wrong.
pub fn run(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    match Configuration::parse(Path::new(FILE), &text) {
        Ok(configuration) => within_bounds(&configuration),
        Err(error) => {
            checks::error(&error);
            assert_eq!((error.stage(), error.code()), (Stage::Host, Code::InvalidConfiguration));
            is_in(&text, error.message());
        }
    }
}

fn within_bounds(configuration: &Configuration) {
    let most = Limits::CEILING;
    for limits in configuration.all_limits() {
        assert!(limits.cpu >= Duration::from_millis(1) && limits.cpu <= most.cpu, "{limits:?}");
        assert!(limits.wall >= Duration::from_millis(1) && limits.wall <= most.wall, "{limits:?}");
        assert!(limits.memory <= most.memory && limits.table_elements <= most.table_elements, "{limits:?}");
        assert!(limits.instances <= most.instances && limits.output <= most.output, "{limits:?}");
        assert!(limits.log <= most.log, "{limits:?}");
    }
    for (name, settings) in &configuration.contributors {
        assert!(checks::is_name(name.as_str()), "{name}");
        let values = settings.terms.values;
        assert!((1..=128).contains(&values.count) && (1..=128 * 1024).contains(&values.bytes), "{values:?}");
        for key in settings.terms.keys.keys() {
            assert!(checks::is_key(key.as_str()) && !checks::is_reserved(key.as_str()), "{key}");
        }
        let grants = &settings.grants;
        for name in &grants.env {
            assert!(!name.is_empty() && !name.contains(['=', '\0']), "{name:?}");
            assert!(!name.to_ascii_uppercase().starts_with("DSH_"), "{name} is managed");
        }
        let within = grants.workspace.as_ref().and_then(|workspace| workspace.within.as_ref());
        assert!(within.is_none_or(|folder| folder.is_absolute()), "{within:?}");
    }
}

/// A message begins with file, line and column, and these are of the text.
fn is_in(text: &str, message: &str) {
    let mut parts = message.splitn(4, ':');
    let mut next = || parts.next().unwrap_or_else(|| panic!("no place: {message}"));
    assert_eq!(next(), FILE, "{message}");
    let [line, column] = [next(), next()].map(|part| part.parse::<usize>().unwrap_or_else(|_| panic!("{message}")));
    let line = line.checked_sub(1).and_then(|line| text.split('\n').nth(line));
    let line = line.unwrap_or_else(|| panic!("no such line: {message}"));
    assert!((1..=line.chars().count() + 1).contains(&column), "no such column: {message}");
}
