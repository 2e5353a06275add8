//! `session resume`: whether a session can go on.

use anyhow::Result;
use serde_json::json;

use super::summary::{describe, lines, path};
use crate::command::arguments::ResumeArguments;
use crate::command::output::Output;

/// Resumes a session, prints what it is, and lets go of it.
pub(super) fn run(arguments: &ResumeArguments, output: &Output) -> Result<()> {
    let store = super::store(&arguments.session.store)?;
    let (id, project) = arguments.session.key()?;
    let resumed = store.resume(&id, project)?;
    let location = resumed.log.location();
    if output.is_json() {
        return output.json(&json!({
            "id": id,
            "location": location,
            "header": resumed.header,
            "events": resumed.events.len(),
            "repaired": resumed.repaired,
        }));
    }
    let mut rows = describe(&resumed.header);
    rows.push(("location", Some(path(location))));
    rows.push(("events", Some(resumed.events.len().to_string())));
    rows.push((
        "repaired",
        (resumed.repaired > 0).then(|| format!("{} bytes of a torn end removed", resumed.repaired)),
    ));
    output.text(&lines(&rows))
}
