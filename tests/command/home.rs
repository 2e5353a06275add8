use super::*;
use serde_json::Value;

#[test]
fn the_command_agrees_with_every_row_of_the_original() {
    let rows: Vec<Value> =
        serde_json::from_slice(&std::fs::read(support::fixtures().join("oracle/home.json")).unwrap()).unwrap();
    assert!(rows.len() >= 24);
    let place = Place::new();
    for row in rows {
        let mut command = place.command(["home"]);
        command
            .current_dir(row["cwd"].as_str().unwrap())
            .env("HOME", row["home"].as_str().unwrap())
            .env_remove("DSH_HOME");
        if let Some(ambient) = row["ambient"].as_str() {
            command.env("DSH_HOME", ambient);
        }
        if let Some(configured) = row["configured"].as_str() {
            command.args(["--home", configured]);
        }
        let run = Run(command.output().unwrap()).expect(0);
        assert_eq!(run.stdout().strip_suffix('\n'), row["resolved"].as_str(), "{row}");
    }
}

#[test]
fn json_says_which_rule_chose() {
    let place = Place::new();
    let home = place.home().display().to_string();
    assert_eq!(place.run(["home", "--json"]).json(), serde_json::json!({ "home": home, "rule": "ambient" }));
    assert_eq!(place.run(["home", "--json", "--home", "/x"]).json()["rule"], "configured");
    let mut command = place.command(["home", "--json"]);
    assert_eq!(Run(command.env_remove("DSH_HOME").output().unwrap()).json()["rule"], "default");
}

#[test]
fn a_home_that_cannot_be_is_a_wrong_configuration() {
    use std::os::unix::ffi::OsStrExt as _;
    let place = Place::new();
    for home in [&b""[..], b" \t", b"/\xff"] {
        let run = place
            .run(["home".as_ref(), "--json".as_ref(), "--home".as_ref(), std::ffi::OsStr::from_bytes(home)])
            .expect(2);
        assert_eq!(run.json()["error"]["code"], "invalid-configuration", "{home:?}");
    }
}
