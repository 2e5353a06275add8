//! What a model is told of a call, and what it is not.

use std::time::Duration;

use serde_json::{Value, json};

use super::support::{Place, SECRET};
use crate::tools::ShellArguments;

#[tokio::test]
async fn output_and_end_are_told_where_there_is_something_to_tell() {
    let place = Place::new();
    let told = async |command: &str| place.bash(&place.nobody(), command).await.output;
    assert_eq!(told("true").await, "[no output]");
    assert_eq!(told("echo out").await, "out");
    assert_eq!(told("echo out; echo err >&2; exit 3").await, "out\n[standard error]\nerr\n[exit code 3]");
    assert_eq!(told("kill -9 $$").await, "[killed by SIGKILL]");
    assert_eq!(told("printf '\\xff'").await, "\u{fffd}");
}

#[tokio::test]
async fn of_long_output_the_end_is_told_and_where_the_rest_is() {
    let place = Place::new();
    let result = place.bash(&place.nobody(), "seq 1 30000").await;
    assert!(result.output.ends_with("\n29999\n30000"), "{}", &result.output[result.output.len() - 100..]);
    let (hint, _) = result.output.split_once('\n').unwrap();
    let path = hint.rsplit_once(" in ").unwrap().1.trim_end_matches(']');
    let all = std::fs::read_to_string(path).unwrap();
    assert!(all.starts_with("1\n2\n3\n") && all.ends_with("\n30000\n"));
}

#[tokio::test]
async fn a_command_that_takes_too_long_is_ended_and_says_so() {
    let place = Place::new();
    let arguments = json!({ "command": "sleep 100", "description": "sleeps", "timeoutMs": 300 });
    let result = place.call(&place.nobody(), "bash", arguments).await;
    assert!(result.ended.unwrap().timed_out);
    assert!(result.output.starts_with("[timed out after 0.3 s"), "{}", result.output);
}

#[tokio::test]
async fn a_caller_that_gives_up_ends_the_command() {
    let place = Place::new();
    let call = crate::tools::ToolCall { name: "bash".to_owned(), arguments: json!({ "command": "sleep 100" }) };
    let soon = tokio::time::sleep(Duration::from_millis(100));
    let result = place.tools.call(&place.nobody(), &call, soon).await;
    assert!(result.ended.unwrap().cancelled, "{}", result.output);
}

#[tokio::test]
async fn a_sensitive_value_reaches_the_command_and_nobody_else() {
    let place = Place::new();
    let check = format!("[ \"$DSH_SECRET\" = {SECRET} ] && echo \"<$DSH_SECRET>\"; echo \"$DSH_SECRET\" >&2");
    // So that the text of the command does not have the value itself.
    let check = check.replace(SECRET, "pa''55word");
    let result = place.bash(&place.agent("s1"), &check).await;
    assert_eq!(result.output, "<[withheld: DSH_SECRET]>\n[standard error]\n[withheld: DSH_SECRET]");

    let piecewise =
        "for i in 1 2 3; do printf %s \"${DSH_SECRET:0:3}\"; sleep 0.1; printf %s \"${DSH_SECRET:3}\"; done";
    place.background(&place.agent("s1"), piecewise).await;
    let output = place.output_of(&place.agent("s1"), "bash-1").await;
    assert!(!output.contains("pa5") && !output.contains("word"), "{output}");
    assert_eq!(output.matches("[withheld: DSH_SECRET]").count(), 3, "{output}");
}

#[tokio::test]
async fn a_sensitive_value_that_is_cut_off_by_the_length_of_output_is_not_shown_in_part() {
    let place = Place::new();
    let result = place.bash(&place.nobody(), "for i in $(seq 20000); do printf %s \"$DSH_SECRET\"; done").await;
    let shown = result.output.split_once("]\n").unwrap().1.replace("[withheld: DSH_SECRET]", "");
    assert_eq!(shown, "");
}

#[test]
fn arguments_are_read_with_their_defaults() {
    let read = |arguments: Value| ShellArguments::read(&arguments);
    let plain = read(json!({ "command": "pwd", "description": "looks" })).unwrap();
    assert_eq!(plain.timeout, None);
    assert!(!plain.run_in_background && plain.workdir.is_none());
    assert_eq!(read(json!({ "command": "pwd" })).unwrap().description, None);
    let nothing =
        json!({ "command": "pwd", "description": null, "timeoutMs": null, "workdir": null, "run_in_background": null });
    assert_eq!(read(nothing).unwrap(), read(json!({ "command": "pwd" })).unwrap());
    let timeout = |value: Value| read(json!({ "command": "x", "timeoutMs": value })).map(|read| read.timeout.unwrap());
    assert_eq!(timeout(json!(1500)).unwrap(), Duration::from_millis(1500));
    assert_eq!(timeout(json!(1500.0)).unwrap(), Duration::from_millis(1500));
    assert_eq!(timeout(json!(600_001)).unwrap(), Duration::from_secs(600));
    assert_eq!(timeout(json!(1e300)).unwrap(), Duration::from_secs(600));
    for wrong in [json!(0), json!(-1), json!(0.5), json!("1000"), json!([]), json!(true)] {
        assert!(timeout(wrong.clone()).is_err(), "{wrong}");
    }
}

#[test]
fn arguments_that_make_no_sense_are_refused_in_words_that_say_what_to_send() {
    for wrong in [
        json!(null),
        json!("pwd"),
        json!([]),
        json!({}),
        json!({ "command": "" }),
        json!({ "command": " \n" }),
        json!({ "command": 1 }),
        json!({ "command": ["pwd"] }),
        json!({ "command": "a\u{0}b" }),
        json!({ "command": "x".repeat(32 * 4096) }),
        json!({ "command": "pwd", "description": 1 }),
        json!({ "command": "pwd", "workdir": 1 }),
        json!({ "command": "pwd", "workdir": "a\u{0}b" }),
        json!({ "command": "pwd", "run_in_background": "yes" }),
    ] {
        let error = ShellArguments::read(&wrong).unwrap_err();
        assert_eq!(error.code().as_str(), "invalid-arguments");
        assert!(error.message().contains("send") || error.message().contains("leave it out"), "{error}");
    }
}
