//! `session fork`: a new session that begins as another one.

use anyhow::Result;
use dsh_env::sessions::Session;
use serde_json::json;

use super::summary::{lines, path};
use crate::command::arguments::ForkArguments;
use crate::command::output::Output;

/// Makes the fork and prints where it is.
pub(super) fn run(arguments: &ForkArguments, output: &Output) -> Result<()> {
    let store = super::store(&arguments.session.store)?;
    let (id, project) = arguments.session.key()?;
    let parent = store.load(&id, project)?;
    let fork = Session::fork_of(store, &parent, None)?;
    let id = &fork.header().session.id;
    if output.is_json() {
        return output.json(&json!({
            "id": id,
            "location": fork.location(),
            "header": fork.header(),
            "events": fork.events().len(),
        }));
    }
    output.text(&lines(&[
        ("id", Some(id.to_string())),
        ("location", Some(path(fork.location()))),
        ("events", Some(fork.events().len().to_string())),
    ]))
}
