use super::*;

#[test]
fn every_command_has_help_with_examples() {
    let place = Place::new();
    for command in
        ["exec", "env", "list", "why", "home", "check", "inspect", "session", "bench", "cache", "completions", "man"]
    {
        let help = place.run([command, "--help"]).expect(0).stdout();
        assert!(help.contains("Examples:") && help.contains(&format!("dsh-env {command}")), "{command}: {help}");
    }
    for command in [
        ["session", "new"],
        ["session", "resume"],
        ["session", "fork"],
        ["session", "list"],
        ["session", "show"],
        ["session", "locate"],
        ["cache", "info"],
        ["cache", "clear"],
    ] {
        let help = place.run(command.iter().chain(&["--help"])).expect(0).stdout();
        assert!(help.contains("Examples:"), "{command:?}");
    }
}

#[test]
fn completions_and_the_manual_page_come_from_the_definitions() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        assert!(place.run(["completions", shell]).expect(0).stdout().contains("strict-shell"), "{shell}");
    }
    let page = place.run(["man"]).expect(0).stdout();
    assert!(page.contains(".TH") && page.contains("strict\\-shell") && page.contains("SESSION LOCATE"), "{page}");
}

#[test]
fn a_command_line_that_makes_no_sense_is_status_2() {
    let place = Place::new();
    for arguments in [&["nonsense"][..], &["env", "--format", "xml"], &["check"], &["why", "not-a-key"], &["why"]] {
        place.run(arguments).expect(2);
    }
}

#[test]
fn a_program_gets_errors_of_the_command_line_as_json_too() {
    let place = Place::new();
    for arguments in
        [&["env", "--json", "--format", "xml"][..], &["--json", "nonsense"], &["why", "--json"], &["--json"]]
    {
        let error = place.run(arguments).expect(2).json()["error"].clone();
        assert_eq!(
            (&error["stage"], &error["code"]),
            (&"host".into(), &"invalid-configuration".into()),
            "{arguments:?}"
        );
    }
    for arguments in
        [&["--json", "exec", "--bogus"][..], &["exec", "--json"], &["--json", "exec", "--home", " ", "--", "true"]]
    {
        let run = place.run(arguments).expect(125);
        assert_eq!(run.stdout(), "");
        assert!(serde_json::from_str::<serde_json::Value>(&run.stderr()).is_ok(), "{}", run.stderr());
    }
}

#[test]
fn colours_are_for_terminals() {
    let place = Place::new();
    let file = place.write("bad.wasm", "");
    let run = place.run(["check".as_ref(), file.as_os_str()]).expect(1);
    assert!(!run.stdout().contains('\u{1b}'));
}

#[test]
fn the_benchmark_measures_the_contributor_beside_a_shell() {
    let place = Place::new();
    let file = example("deployment-region");
    let arguments = [
        "bench".as_ref(),
        "--json".as_ref(),
        "--calls".as_ref(),
        "40".as_ref(),
        "--shells".as_ref(),
        "5".as_ref(),
        file.as_os_str(),
    ];
    let report = place.run(arguments).expect(0).json();
    for field in ["compile_ms", "cached_load_us", "declare_us"] {
        assert!(report[field].as_f64().unwrap() > 0.0, "{report}");
    }
    for field in ["resolve_us", "shell_us"] {
        let (p50, p99) = (report[field]["p50"].as_f64().unwrap(), report[field]["p99"].as_f64().unwrap());
        assert!(0.0 < p50 && p50 <= p99, "{report}");
    }
    let bad = support::fixtures().join("hostile/bad-resolve-traps.wasm");
    place.run(["bench".as_ref(), bad.as_os_str()]).expect(1);
}

#[test]
fn every_configuration_in_the_readme_can_be_read() {
    let readme = std::fs::read_to_string(support::project().join("README.md")).unwrap();
    let configurations: Vec<_> =
        readme.split("```toml\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    assert!(configurations.len() > 1);
    let place = Place::new();
    for configuration in configurations {
        place.configure(configuration);
        place.run(["list"]).expect(0);
    }
}

#[test]
fn the_readmes_configuration_is_taken_as_it_stands() {
    let readme = std::fs::read_to_string(support::project().join("README.md")).unwrap();
    let configuration = readme.split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
    let place = Place::new();
    place.configure(configuration);
    place.install("region", std::fs::read(example("deployment-region")).unwrap());
    let run = place.run(["env", "--session-id", "s1"]).expect(0);
    assert_eq!((run.json()["DSH_DEPLOYMENT_REGION"].as_str(), run.stderr().as_str()), (Some("cn-north"), ""));
}
