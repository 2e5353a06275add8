//! What is granted on the command line, and what is said of grants and imports.

use super::*;
use serde_json::{Value, json};
use std::path::Path;
use support::guest::importing;

const EVERY: [&str; 6] = [
    "wasi:cli/environment@0.2.6",
    "wasi:filesystem/preopens@0.2.6",
    "wasi:clocks/wall-clock@0.2.6",
    "wasi:random/random@0.2.6",
    "wasi:sockets/tcp@0.2.6",
    "wasi:config/store@0.2.0-rc.1",
];

fn importing_everything(place: &Place) -> PathBuf {
    place.write("imports.wasm", importing(&Guest::good().component(), &EVERY))
}

/// Runs a command with a component and grants.
fn with(place: &Place, before: &[&str], file: &Path, grants: &[&str], after: &[&str]) -> Run {
    let file = file.to_str().unwrap();
    let grants = grants.iter().flat_map(|grant| ["--grant", grant]);
    place.run(before.iter().copied().chain([file]).chain(grants).chain(after.iter().copied()))
}

#[test]
fn what_is_granted_goes_to_the_files_that_are_named() {
    let place = Place::new();
    let file = place.write("probe.wasm", Guest::repeating_an_extension().component());
    let execution = place.write("execution.json", r#"{"extensions": [["com.acme.ticket", "ABC-1"]]}"#);
    let execution = execution.to_str().unwrap();
    for grant in ["extensions=*", "extensions=other,com.acme.ticket", "{ extensions = [\"com.acme.ticket\"] }"] {
        let env = with(&place, &["env", "--execution", execution, "--contributor"], &file, &[grant], &[]);
        assert_eq!(env.expect(0).json()["DSH_PROBE"], "ABC-1", "{grant}");
        let why = with(
            &place,
            &["why", "DSH_PROBE", "--json", "--execution", execution, "--contributor"],
            &file,
            &[grant],
            &[],
        );
        assert_eq!(why.expect(0).json()["value"], "ABC-1");
        let check = with(&place, &["check", "--json", "--execution", execution], &file, &[grant], &[]);
        assert_eq!(check.expect(0).json()["env"]["DSH_PROBE"], "ABC-1");
        let before = ["exec", "--execution", execution, "--contributor"];
        let exec = with(&place, &before, &file, &[grant], &["--", "sh", "-c", "echo $DSH_PROBE"]);
        assert_eq!(exec.expect(0).stdout(), "ABC-1\n");
    }
    let env = with(&place, &["env", "--execution", execution, "--contributor"], &file, &["clock"], &[]);
    assert_eq!(env.expect(0).json().get("DSH_PROBE"), None);
    // An installed one of the same kind gets what the configuration grants it.
    place.install("probe", Guest::repeating_an_extension().component());
    let before = ["env", "--execution", execution, "--contributor"];
    let env = with(&place, &before, &example("ticket"), &["extensions=*"], &[]);
    assert_eq!(env.expect(0).json().get("DSH_PROBE"), None);
}

#[test]
fn a_grant_for_no_file_is_a_mistake() {
    let place = Place::new();
    place.install("probe", Guest::good().component());
    for command in [&["env"][..], &["list"], &["why", "DSH_PROBE"]] {
        let run = place.run(command.iter().chain(&["--json", "--grant", "clock"])).expect(2);
        let error = run.json()["error"].clone();
        assert_eq!(error["code"], "invalid-configuration");
        assert!(error["message"].as_str().unwrap().contains("--contributor"), "{error}");
    }
    place.run(["exec", "--grant", "clock", "--", "true"]).expect(125);
}

#[test]
fn a_grant_that_does_not_exist_names_the_nearest() {
    let place = Place::new();
    let file = place.write("probe.wasm", Guest::good().component());
    for before in [&["check"][..], &["inspect"], &["bench"], &["env", "--contributor"]] {
        let run = with(&place, before, &file, &["clok"], &[]).expect(2);
        assert!(run.stderr().contains("unknown grant \"clok\": did you mean \"clock\"?"), "{}", run.stderr());
    }
    let run = with(&place, &["check", "--json"], &file, &["env=dsh_home"], &[]).expect(2);
    assert!(run.json()["error"]["message"].as_str().unwrap().contains("managed name"));
}

#[test]
fn a_check_says_what_was_printed_and_granted() {
    let place = Place::new();
    let file = place.write("printing.wasm", Guest::printing().core_module());
    let report = with(&place, &["check", "--json"], &file, &["env=PATH,NOT_SET_HERE", "clock"], &[]).expect(0).json();
    assert_eq!(report["env"]["DSH_PROBE"], "1", "{report}");
    assert_eq!(report["log"], json!(["hello", "\\u{1b}[31m"]));
    assert_eq!(report["grants"]["env"], json!(["NOT_SET_HERE", "PATH"]));
    assert_eq!((&report["grants"]["clock"], &report["grants"]["random"]), (&json!(true), &json!(false)));
    let run = with(&place, &["check"], &file, &[], &[]).expect(0);
    assert!(run.stdout().contains("\nlog: hello\nlog: \\u{1b}[31m\n"), "{}", run.stdout());
    let report = with(&place, &["check", "--json"], &file, &[], &[]).json();
    assert_eq!((&report["env"]["DSH_PROBE"], &report["grants"]["env"]), (&json!("0"), &json!([])));
}

#[test]
fn what_is_printed_is_shown_of_a_failure_too_and_withheld_where_values_are_sensitive() {
    let place = Place::new();
    let failing = "(drop (call $write (i32.const 2) (i32.const 2048) (i32.const 1) (i32.const 2064))) (unreachable)";
    let file = place.write("failing.wasm", Guest::printing().with("resolve", failing).core_module());
    let report = with(&place, &["check", "--json"], &file, &[], &[]).expect(1).json();
    assert_eq!((&report["error"]["code"], &report["log"][0]), (&json!("trap"), &json!("hello")), "{report}");
    let run = with(&place, &["check"], &file, &[], &[]).expect(1);
    assert!(run.stdout().contains("\nlog: hello\n"), "{}", run.stdout());
    let file = place.write("sensitive.wasm", Guest::printing().with("sensitive", "\\01").core_module());
    let report = with(&place, &["check", "--json"], &file, &[], &[]).expect(0).json();
    assert_eq!(report["log"], json!(["[withheld: probe handles sensitive values]"]));
}

#[test]
fn a_check_lists_the_imports_because_of_which_it_was_refused() {
    let place = Place::new();
    let file = support::fixtures().join("hostile/bad-imports-vault.wasm");
    let report = with(&place, &["check", "--json"], &file, &[], &[]).expect(1).json();
    assert_eq!(report["error"]["code"], "forbidden-import");
    assert_eq!(report["imports"], json!(["acme:secrets/vault@1.0.0"]));
}

#[test]
fn the_list_says_what_contributors_import_and_are_granted() {
    let place = Place::new();
    place.install("imports", importing(&Guest::good().component(), &EVERY));
    place.configure("[contributors.probe]\ngrants = { workspace = \"repository\", config = true }\nsettings = { token = \"hunter2\" }\n");
    let before = ["list", "--contributor"];
    let people = with(&place, &before, &example("ticket"), &["env=CI", "clock"], &[]).expect(0).stdout();
    let row = |name: &str| {
        let rows = people.split("\n\n").nth(1).unwrap().lines().filter(|line| line.starts_with(&format!(" {name} ")));
        rows.map(str::to_owned).next().unwrap_or_else(|| panic!("{people}"))
    };
    for word in ["variables, files, clock", "workspace=repository"] {
        assert!(row("probe").contains(word), "{people}");
    }
    assert!(row("ticket").contains("nothing") && row("ticket").contains("env=CI clock"), "{people}");
    // However the table is wrapped.
    assert!(people.contains("network (always") && people.contains("config.token=…"), "{people}");
    assert!(people.lines().all(|line| line.chars().count() <= 100) && !people.contains("hunter2"), "{people}");

    let listed =
        with(&place, &["list", "--json", "--contributor"], &example("ticket"), &["env=CI"], &[]).expect(0).json();
    let of = |key: &str| listed.as_array().unwrap().iter().find(|variable| variable["key"] == key).unwrap().clone();
    let mut probe = of("DSH_PROBE");
    assert_eq!((&probe["imports"], &probe["grants"]["config"]), (&json!(EVERY), &json!(["token"])), "{probe}");
    assert_eq!(of("DSH_TICKET")["grants"]["env"], json!(["CI"]));
    assert_eq!(of("DSH_HOME")["imports"], json!([]));
    // The rest is as it was.
    let fields = probe.as_object_mut().unwrap();
    fields.retain(|name, _| !["imports", "grants"].contains(&name.as_str()));
    assert_eq!(
        probe,
        json!({ "key": "DSH_PROBE", "description": "A fact.", "contributor": "probe", "sensitive": false })
    );
}

#[test]
fn a_list_without_components_has_one_table() {
    let place = Place::new();
    assert!(!place.run(["list"]).expect(0).stdout().contains("IMPORTS"));
}

#[test]
fn an_inspection_says_of_each_import_what_it_allows_and_which_grant_opens_it() {
    let place = Place::new();
    let mut imports = EVERY.to_vec();
    imports.extend(["wasi:cli/environment@0.3.0", "acme:secrets/vault@1.0.0"]);
    let file = place.write("imports.wasm", importing(&Guest::good().component(), &imports));
    let inspection = with(&place, &["inspect", "--json"], &file, &["clock", "workspace=session"], &[]).expect(0).json();
    let imports = inspection["imports"].as_array().unwrap();
    let of = |field: &str| imports.iter().map(|import| import[field].clone()).collect::<Vec<_>>();
    let none = Value::Null;
    let grants: Vec<Value> = ["env", "workspace", "clock", "random"].map(Value::from).into();
    assert_eq!(of("grant"), [grants.as_slice(), &[none.clone(), "config".into(), none.clone(), none]].concat());
    assert_eq!(of("granted"), [false, true, true, false, false, false, false, false].map(Value::from));
    assert_eq!(imports[4]["allows"], "network: imported, always denied");
    assert!(of("allows")[6..].iter().all(|allows| allows.as_str().unwrap().starts_with("refused: ")), "{inspection}");
    let people = with(&place, &["inspect"], &file, &["clock"], &[]).expect(0).stdout();
    assert!(people.contains("network: imported, always denied") && people.contains("GRANTED"), "{people}");
    assert!(people.lines().all(|line| line.chars().count() <= 100), "{people}");
    insta::assert_snapshot!(people.split("\n\n").nth(1).unwrap(), @r#"
    IMPORT                          ALLOWS                                          GRANT      GRANTED
    wasi:cli/environment@0.2.6      no arguments; the variables that `env` grants,  env        no
                                    else none
    wasi:filesystem/preopens@0.2.6  reading the directory that `workspace` grants,  workspace  no
                                    else no files
    wasi:clocks/wall-clock@0.2.6    the real time if `clock` is granted, else       clock      yes
                                    always the epoch
    wasi:random/random@0.2.6        real randomness if `random` is granted, else    random     no
                                    the same numbers in every call
    wasi:sockets/tcp@0.2.6          network: imported, always denied
    wasi:config/store@0.2.0-rc.1    its settings if `config` is granted, the facts  config     no
                                    that `facts` grants, else none
    wasi:cli/environment@0.3.0      refused: this host offers parts of WASI 0.2,
                                    and this is none of them
    acme:secrets/vault@1.0.0        refused: this host does not offer it
    "#);
}

#[test]
fn a_contributor_that_imports_something_is_measured_too() {
    let place = Place::new();
    let file = importing_everything(&place);
    let report = with(&place, &["bench", "--json", "--calls", "20", "--shells", "3"], &file, &["clock"], &[]);
    assert!(report.expect(0).json()["resolve_us"]["p50"].as_f64().unwrap() > 0.0);
}

#[test]
fn a_granted_repository_is_read_and_the_log_says_why_another_is_not() {
    let place = Place::new();
    let git = |arguments: &[&str]| {
        let mut git = std::process::Command::new("git");
        git.current_dir(place.path()).args(arguments).env("GIT_CONFIG_GLOBAL", "/dev/null");
        assert!(git.output().unwrap().status.success(), "{arguments:?}");
    };
    git(&["init", "--quiet", "--initial-branch=ours", "repository"]);
    let check = |workdir: &str, grants: &[&str]| {
        let workdir = place.path().join(workdir);
        let before = ["check", "--json", "--workdir", workdir.to_str().unwrap()];
        with(&place, &before, &example("git-workspace"), grants, &[]).expect(0).json()
    };
    let bound = format!("within={}", place.path().display());
    for grants in
        [&["workspace=repository"][..], &["workspace=repository", &bound], &["workspace=repository", "within=."]]
    {
        let report = check("repository", grants);
        assert_eq!((&report["env"]["DSH_GIT_BRANCH"], &report["log"]), (&json!("ours"), &json!([])), "{report}");
    }
    let told = |workdir: &str, grants: &[&str]| {
        let report = check(workdir, grants);
        assert_eq!(report["env"], json!({}), "{report}");
        report["log"][0].as_str().unwrap_or_default().to_owned()
    };
    assert_eq!(told("repository", &[]), "");
    let bound = format!("within={}", place.user_home().display());
    assert!(told("repository", &["workspace=repository", &bound]).contains("is not within"));
    assert!(told("user", &["workspace=repository"]).contains("is in no Git work tree"));
    // A folder that somebody else made.
    place.write("evil/.git", "gitdir: ../repository/.git\n");
    let told = told("evil", &["workspace=repository"]);
    assert!(told.contains("the workspace is not shown") && told.contains("of this work tree"), "{told}");
}
