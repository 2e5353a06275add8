mod facts;
mod files;
mod grants;
mod last_good;
mod mistakes;
mod server;
mod telemetry;
mod trust;
mod values;

use std::path::Path;

use super::*;

const FILE: &str = "/h/dsh-env.toml";

/// What is said about each text, in a line each.
fn told(texts: &[&str]) -> String {
    let lines = texts.iter().map(|text| {
        let error = parse(text).map(|_| format!("{text:?} is taken")).unwrap_err();
        assert_eq!(error.code(), Code::InvalidConfiguration);
        error.message().to_owned()
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn parse(text: &str) -> Result<Configuration> {
    Configuration::parse(Path::new(FILE), text)
}
