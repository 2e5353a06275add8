//! What a model is shown.

use serde_json::json;

use super::support::Place;
use crate::environment::Shell;
use crate::registry::Registry;
use crate::tools::ToolDescription;

#[tokio::test]
async fn the_descriptions_are_what_they_were() {
    insta::assert_json_snapshot!("descriptions", Place::new().tools.describe());
}

#[tokio::test]
async fn a_shells_description_teaches_the_namespace_and_names_no_single_key() {
    let place = Place::new();
    let keys = Registry::new(&place.home).list();
    for ToolDescription { name, description, parameters } in place.tools.describe() {
        let all = format!("{description} {parameters}");
        for key in &keys {
            assert!(!all.contains(&key.key), "{name} names {}", key.key);
        }
        assert!(!all.contains("DSH_SESSION_JSONL"));
        if name == "bash" || name == "pwsh" {
            assert!(description.contains("$DSH_*"), "{description}");
            assert_eq!(parameters["required"], json!(["command", "description"]));
        }
    }
}

#[test]
fn both_shells_are_started_without_start_up_files() {
    let arguments = |shell: Shell, script: &str| {
        let arguments = shell.script_arguments(script);
        arguments.into_iter().map(|argument| argument.into_string().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(arguments(Shell::Bash, "pwd"), ["--noprofile", "--norc", "-c", "pwd"]);
    assert_eq!(arguments(Shell::Bash, "-x"), ["--noprofile", "--norc", "-c", "--", "-x"]);
    assert_eq!(arguments(Shell::Pwsh, "Get-Location"), ["-NonInteractive", "-NoProfile", "-Command", "Get-Location"]);
}
