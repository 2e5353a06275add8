mod files;
mod grants;
mod mistakes;
mod values;

use std::path::Path;

use super::*;

const FILE: &str = "/h/dsh-env.toml";

fn parse(text: &str) -> Result<Configuration> {
    Configuration::parse(Path::new(FILE), text)
}
