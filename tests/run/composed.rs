//! What a run is composed of, and what is wrong with it.

use super::*;

fn refused(place: &Place, arguments: &[&str]) -> Value {
    let all = ["run", "--json"].iter().chain(arguments);
    place.run(all).expect(2).json()["error"].clone()
}

#[test]
fn two_homes_that_differ_are_refused_and_both_are_named() {
    let place = Place::new();
    let elsewhere = place.path().join("elsewhere");
    place.configure(&format!("[skills]\nhome = \"{}\"\n", elsewhere.display()));
    let script = place.write("script.json", "[]");
    let error = refused(&place, &["--script", script.to_str().unwrap()]);
    assert_eq!(error["code"], "contradictory-homes");
    let message = error["message"].as_str().unwrap();
    assert!(message.contains(elsewhere.to_str().unwrap()) && message.contains(place.home().to_str().unwrap()));

    place.configure(&format!("[skills]\nhome = \"{}/\"\n", place.home().display()));
    Ran::script(&place, [done()], &[]).expect(0);
}

#[test]
fn a_script_that_is_none_is_refused_with_an_example() {
    let place = Place::new();
    for text in ["", "{}", "[{}]", "[1]", "[{\"text\": 1}]", "[{\"tool_calls\": [{}]}]", "[{\"txt\": \"x\"}]"] {
        let script = place.write("script.json", text);
        let error = refused(&place, &["--script", script.to_str().unwrap()]);
        assert_eq!(error["code"], "invalid-configuration", "{text}");
        assert!(error["message"].as_str().unwrap().contains("tool_calls"), "{error}");
    }
    let missing = refused(&place, &["--script", "missing.json"]);
    assert!(missing["message"].as_str().unwrap().contains("missing.json"));
}

#[test]
fn either_a_script_or_a_model_answers() {
    let place = Place::new();
    assert_eq!(refused(&place, &[])["code"], "invalid-configuration");
    assert_eq!(refused(&place, &["--script", "x", "--model", "http://h"])["code"], "invalid-configuration");
    assert_eq!(refused(&place, &["--model", "nonsense", "--prompt", "x"])["code"], "invalid-configuration");
}

#[test]
fn only_shells_that_are_configured_are_offered() {
    let place = Place::new();
    place.configure("[tools]\nshells = [\"pwsh\"]\n");
    let ran = Ran::script(&place, [bash("true"), done()], &[]).expect(0);
    assert_eq!(ran.of_type("request/header")[0]["tools"][0]["name"], "pwsh");
    assert!(ran.outputs()[0].contains("there is no tool \"bash\""), "{:?}", ran.outputs());
    place.configure("[tools]\nshells = [\"zsh\"]\n");
    let script = place.write("script.json", "[]");
    assert_eq!(refused(&place, &["--script", script.to_str().unwrap()])["code"], "invalid-configuration");
}

#[test]
fn commands_run_where_the_session_is_for_if_that_is_there() {
    let place = Place::new();
    let folder = place.path().join("project");
    std::fs::create_dir(&folder).unwrap();
    let run =
        |arguments: &[&str]| Ran::script(&place, [bash("pwd"), done()], arguments).expect(0).outputs()[0].to_owned();
    assert_eq!(run(&["--session-cwd", folder.to_str().unwrap()]), folder.to_str().unwrap());
    assert_eq!(run(&["--session-cwd", "/no/such/folder"]), place.path().to_str().unwrap());
    assert_eq!(run(&["--session-cwd", "/", "--workdir", "project"]), folder.to_str().unwrap());
}

#[test]
fn a_session_that_cannot_be_kept_ends_the_run_with_its_code() {
    let place = Place::new();
    place.write("root", "a file");
    let script = place.write("script.json", json!([done()]).to_string());
    let arguments = ["run", "--json", "--sessions-root", "root", "--script", script.to_str().unwrap()];
    let run = place.run(arguments).expect(1);
    let last: Value = serde_json::from_str(run.stdout().lines().last().unwrap()).unwrap();
    assert_eq!(last["error"]["code"], "session-storage");
}
