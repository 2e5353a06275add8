//! What a model sees in the shell on its first turn, and what is left of it afterwards.

use super::*;

/// Home, shell, id, path, a stale value, and whether the file at the path is there.
const LOOK: &str = r#"printf '%s\n' "$DSH_HOME" "$DSH_SHELL" "${DSH_SESSION_ID-unset}" "${DSH_SESSION_JSONL-unset}" "${DSH_STALE-unset}"
if [ -e "${DSH_SESSION_JSONL-/none}" ]; then echo present; else echo absent; fi"#;

fn stale(place: &Place, answers: &[Value], arguments: &[&str]) -> Ran {
    let script = place.write("script.json", Value::from(answers.to_vec()).to_string());
    let all = ["run", "--json", "--script", script.to_str().unwrap()];
    let mut command = place.command(all.iter().chain(arguments));
    command.env("DSH_STALE", "stale").env("dsh_session_id", "stale").env("DSH_SESSION_JSONL", "/stale");
    Ran::of(Run(command.output().unwrap())).expect(0)
}

#[test]
fn the_first_turn_knows_home_session_and_path_and_the_second_finds_the_header_there() {
    let place = Place::new();
    let root = place.path().join("kept");
    let arguments = ["--session-id", "s1", "--session-cwd", "/srv/app", "--compression", "none", "--sessions-root"];
    let arguments = [&arguments[..], &[root.to_str().unwrap()]].concat();
    let script = [bash(LOOK), done(), bash("head -n 1 \"$DSH_SESSION_JSONL\""), done()];
    let ran = stale(&place, &script, &arguments);
    let path = root.join("--srv-app--/s1/session.jsonl");
    let home = place.home();
    let expected = [home.to_str().unwrap(), "1", "s1", path.to_str().unwrap(), "unset", "absent"].join("\n");
    assert_eq!(ran.outputs()[0], expected);

    let header: Value = serde_json::from_str(ran.outputs()[1]).unwrap();
    assert_eq!(
        (&header["type"], &header["version"], &header["id"], &header["cwd"], &header["delegationDepth"]),
        (&json!("session"), &json!(0), &json!("s1"), &json!("/srv/app"), &json!(0))
    );
    let kept = log(&path);
    assert_eq!(kept[0], header);
    assert_eq!(kept[1..], ran.events[..], "what was printed is what was kept");
}

#[test]
fn every_event_is_printed_with_a_number_of_its_own_and_in_order() {
    let ran = Ran::script(&Place::new(), [bash("true"), done()], &[]).expect(0);
    let kinds: Vec<_> = ran.events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!(
        kinds,
        [
            "turn/start",
            "user/message",
            "request/header",
            "assistant/message",
            "tool/call",
            "tool/result",
            "assistant/message",
            "turn/end"
        ]
    );
    let numbers: Vec<_> = ran.events.iter().map(|event| event["seq"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (0..numbers.len() as u64).collect::<Vec<_>>());
    let call = ran.of_type("tool/call")[0];
    assert_eq!((&call["name"], &call["arguments"]["command"]), (&json!("bash"), &json!("true")));
    assert_eq!(call["callId"], ran.of_type("tool/result")[0]["callId"]);
}

#[test]
fn the_recorded_header_has_the_tools_as_the_model_is_shown_them_and_no_other_text() {
    let ran = Ran::script(&Place::new(), [done(), done()], &[]).expect(0);
    let [header] = ran.of_type("request/header").try_into().expect("it is recorded once, while it stays the same");
    let fields: Vec<_> = header.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(fields, ["at", "model", "seq", "tools", "type"]);
    let bash = &header["tools"][0];
    let description = bash["description"].as_str().unwrap();
    assert_eq!(bash["name"], "bash");
    assert!(description.contains("$DSH_*") && bash["parameters"]["properties"]["command"].is_object());
    for key in ["DSH_HOME", "DSH_SHELL", "DSH_SESSION_ID", "DSH_SESSION_JSONL"] {
        assert!(!header.to_string().contains(key), "no single key is named");
    }
}

#[test]
fn a_compressed_log_is_located_and_one_in_a_database_is_not() {
    let place = Place::new();
    let ran = stale(&place, &[bash(LOOK), done(), bash(LOOK), done()], &["--session-id", "s1"]);
    let path = place.home().join("sessions/_no-cwd/s1/session.jsonl.zstd");
    assert!(ran.outputs()[0].ends_with(&format!("s1\n{}\nunset\nabsent", path.display())), "{:?}", ran.outputs());
    assert!(ran.outputs()[1].ends_with("present"));

    let ran = stale(&place, &[bash(LOOK), done()], &["--session-id", "s2", "--backend", "sqlite"]);
    assert!(ran.outputs()[0].ends_with("s2\nunset\nunset\nabsent"), "{:?}", ran.outputs());
    assert!(place.home().join("sessions/sessions.sqlite3").is_file());
}

#[test]
fn a_session_goes_on_under_its_id_and_a_new_one_gets_an_id_of_its_own() {
    let place = Place::new();
    let print = || [bash("echo $DSH_SESSION_ID"), done()];
    let first = Ran::script(&place, print(), &["--session-id", "s1"]).expect(0);
    let second = Ran::script(&place, print(), &["--session-id", "s1"]).expect(0);
    assert_eq!(first.outputs(), second.outputs());
    let next = first.events.len() as u64;
    assert_eq!(second.events[0]["seq"], next, "it goes on where it was");

    let one = Ran::script(&place, print(), &[]).expect(0);
    let other = Ran::script(&place, print(), &[]).expect(0);
    assert_ne!(one.outputs(), other.outputs());
    assert!(uuid::Uuid::parse_str(one.outputs()[0]).is_ok_and(|id| id.get_version_num() == 7));
}

#[test]
fn a_session_is_found_by_its_id_alone_unless_there_are_several() {
    let place = Place::new();
    let of = |arguments: &[&str]| {
        let print = [bash("echo $DSH_SESSION_JSONL"), done()];
        Ran::script(&place, print, &[&["--session-id", "s1"], arguments].concat())
    };
    let first = of(&["--session-cwd", "/a"]).expect(0);
    assert_eq!(of(&[]).expect(0).outputs(), first.outputs());
    of(&["--session-cwd", "/b"]).expect(0);
    let last: Value = serde_json::from_str(of(&[]).expect(1).run.stdout().lines().last().unwrap()).unwrap();
    assert_eq!(last["error"]["code"], "session-ambiguous");
}

#[test]
fn what_a_model_sends_beside_the_arguments_is_ignored() {
    let place = Place::new();
    let arguments = json!({
        "command": "echo ${DSH_HOME} ${MINE-unset}; cat",
        "description": "tries",
        "env": {"DSH_HOME": "/elsewhere", "MINE": "1"},
        "stdin": "from the model",
    });
    let ran = Ran::script(&place, [calls([arguments]), done()], &[]).expect(0);
    assert_eq!(ran.outputs(), [format!("{} unset", place.home().display())]);
}

#[test]
fn calls_of_one_answer_run_at_the_same_time() {
    let place = Place::new();
    let folder = place.path().join("meeting");
    std::fs::create_dir(&folder).unwrap();
    let meet = |mine: &str, other: &str| {
        let command = format!("touch {mine}; until [ -e {other} ]; do sleep 0.01; done; echo {mine}");
        json!({ "command": command, "description": "meets the other", "workdir": folder })
    };
    let ran = Ran::script(&place, [calls([meet("a", "b"), meet("b", "a")]), done()], &[]).expect(0);
    let mut outputs = ran.outputs();
    outputs.sort_unstable();
    assert_eq!(outputs, ["a", "b"]);
}

#[test]
fn a_contributor_that_fails_fails_the_call_before_anything_is_spawned_and_the_loop_goes_on() {
    let place = Place::new();
    place.install("probe", crate::support::guest::Guest::good().with("resolve", "(unreachable)").component());
    let witness = place.path().join("witness");
    let ran = Ran::script(&place, [bash(&format!("touch {}", witness.display())), done()], &[]).expect(0);
    let result = ran.of_type("tool/result")[0];
    assert_eq!(result["isError"], true);
    assert!(result["output"].as_str().unwrap().contains("(trap)"), "{result}");
    assert!(!witness.exists());
}

#[test]
fn people_see_the_calls_and_what_came_of_them() {
    let place = Place::new();
    let script = place.write("script.json", json!([bash("printf 'one\\033[31m\\n'; exit 3"), done()]).to_string());
    let shown = place.run(["run", "--script", script.to_str().unwrap()]).expect(0).stdout();
    assert!(
        shown.contains("bash printf") && shown.contains("[exit code 3]") && shown.contains("model done"),
        "{shown}"
    );
    assert!(!shown.contains('\u{1b}'), "no colours where nobody looks, and none of the command's: {shown}");
}

#[test]
fn of_very_many_calls_in_one_answer_some_are_made_and_the_model_is_told() {
    let place = Place::new();
    let many = (0..130).map(|_| json!({ "command": "true", "description": "nothing" }));
    let ran = Ran::script(&place, [calls(many), done()], &[]).expect(0);
    assert_eq!(ran.outputs(), vec!["[no output]"; 128]);
    let told = ran.of_type("user/message")[1]["text"].as_str().unwrap();
    assert!(told.contains("2 more calls"), "{told}");
}
