//! What a configuration means.

use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::contract::Key;
use crate::environment::Shell;
use crate::registry::OnFailure;
use crate::sandbox::{Extensions, Workspace, WorkspaceKind};

const COMPLETE: &str = include_str!("../../../../../tests/fixtures/configuration/complete.toml");

fn key(text: &str) -> Key {
    Key::new(text).unwrap()
}

#[test]
fn an_empty_file_is_the_defaults() {
    for text in [
        "",
        "\n# nothing\n",
        "\u{feff}",
        "[limits]\n[trust]\n[facts]\n[server]\n[telemetry]\n[sessions]\n[contributors]\n[cache]\n[tools]\n[hooks]\n[skills]\n",
    ] {
        let configuration = parse(text).unwrap();
        assert_eq!(configuration.limits, Limits::RESOLVE);
        assert_eq!(configuration.values, ValueLimits::default());
        assert!(configuration.contributors.is_empty());
        assert_eq!(configuration.trust, TrustSettings::default());
        assert!(configuration.facts.is_empty());
        assert_eq!(configuration.server, ServerSettings::default());
        assert_eq!(configuration.telemetry, TelemetrySettings::default());
        assert_eq!(configuration.sessions, SessionsSettings::default());
        assert_eq!(configuration.cache.size, 1 << 30);
        assert_eq!(configuration.tools, ToolsSettings::default());
        assert_eq!(configuration.hooks, HooksSettings::default());
        assert_eq!(configuration.skills, SkillsSettings::default());
        assert_eq!(configuration.file, Path::new(FILE));
    }
    let sessions = SessionsSettings::default();
    assert_eq!((sessions.root, sessions.backend.as_str(), sessions.compression.as_str()), (None, "jsonl", "zstd"));
}

#[test]
fn every_setting_has_its_effect() {
    let configuration = parse(COMPLETE).unwrap();
    let limits = Limits {
        cpu: Duration::from_millis(200),
        wall: Duration::from_secs(2),
        memory: 128 << 20,
        table_elements: 20_000,
        instances: 8,
        output: 1 << 20,
        log: 16 << 10,
    };
    let values = ValueLimits { count: 16, bytes: 4 << 10 };
    assert_eq!((configuration.limits, configuration.values), (limits, values));
    assert_eq!(
        configuration.sessions,
        SessionsSettings { root: Some("~/logs".into()), backend: Backend::Sqlite, compression: Compression::None }
    );
    assert_eq!(configuration.tools.shells, Some(vec![Shell::Pwsh, Shell::Bash]));
    assert_eq!(
        configuration.hooks,
        HooksSettings {
            claude_code: vec!["~/.claude/settings.json".into(), "hooks/claude.json".into()],
            codex: vec!["~/.codex/hooks.json".into()],
            block_without_reason: false,
        }
    );
    assert_eq!(configuration.skills.home.as_deref(), Some("~/.dsh"));

    assert_eq!(configuration.cache, CacheSettings { size: 256 << 20 });

    let settings = &configuration.contributors["git-workspace"];
    assert!(!settings.enabled && settings.required);
    assert_eq!(settings.limits, Limits { cpu: Duration::from_millis(50), ..limits });
    let terms = &settings.terms;
    assert_eq!(terms.values, ValueLimits { bytes: 1 << 10, ..values });
    assert!(terms.show_guest_text);
    assert_eq!(terms.on_failure, OnFailure::Omit);
    assert_eq!(terms.on_failure(&key("DSH_GIT_BRANCH")), &OnFailure::Value("unknown".into()));
    assert_eq!(terms.on_failure(&key("DSH_GIT_HEAD")), &OnFailure::Fail);
    assert_eq!(terms.on_failure(&key("DSH_GIT_REMOTE")), &OnFailure::LastGood(Duration::from_secs(90)));
    assert_eq!(terms.on_failure(&key("DSH_GIT_OTHER")), &OnFailure::Omit);
    let shadow = ShadowSettings { calls: 20, time: Duration::from_secs(600), on_difference: OnDifference::Promote };
    assert_eq!(settings.shadow, Some(shadow));
    let shape = terms.shape(&key("DSH_GIT_BRANCH")).unwrap();
    assert!(shape.matches("feature/x-1.0") && !shape.matches("a b") && !shape.matches(""));
    assert!(terms.shape(&key("DSH_GIT_HEAD")).is_none());
    let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    let read = [("depth", "16"), ("remote", "origin"), ("with.dot", "true")];
    let read = Settings(read.map(|(name, value)| (name.to_owned(), value.to_owned())).into());
    assert_eq!(settings.settings, read);
    let grants = Grants {
        config: Some(read),
        env: names(&["CI", "LANG"]),
        facts: names(&["cluster", "on-call"]),
        extensions: Extensions::Named(names(&["com.acme.ticket", "dsh.memory"])),
        workspace: Some(Workspace { kind: WorkspaceKind::Repository, within: Some("/srv/src".into()) }),
        clock: true,
        random: true,
    };
    assert_eq!((&settings.grants, &configuration.grants_of("git-workspace")), (&grants, &grants));
    let trusting = configuration.grants_of("trusting");
    assert_eq!(trusting.extensions, Extensions::All);
    assert_eq!(trusting.workspace, Some(Workspace { kind: WorkspaceKind::Workdir, within: None }));
}

#[test]
fn a_contributor_that_is_named_without_settings_has_the_general_ones() {
    let configuration = parse(COMPLETE).unwrap();
    let settings = &configuration.contributors["acme.region"];
    assert!(settings.enabled && !settings.required);
    for name in ["acme.region", "never-mentioned"] {
        let (limits, terms) = configuration.of_contributor(name);
        assert_eq!((limits, terms.values), (configuration.limits, configuration.values));
        assert_eq!(terms.on_failure, OnFailure::Fail);
        assert_eq!(settings.shadow, None);
        assert!(terms.keys.is_empty() && !terms.show_guest_text);
        assert!(configuration.grants_of(name).is_empty());
    }
    assert_eq!(configuration.of_contributor("git-workspace").0.cpu, Duration::from_millis(50));
    assert_eq!(configuration.all_limits().count(), 5);
}

#[test]
fn a_section_knows_its_line() {
    let text = "[contributors.a]\n\n[contributors]\nb = { enabled = false }\n\n[contributors.c.keys.DSH_C]\n";
    let configuration = parse(text).unwrap();
    let places: Vec<String> =
        configuration.contributors.values().map(|settings| configuration.place_of(settings)).collect();
    assert_eq!(places, ["/h/dsh-env.toml:1", "/h/dsh-env.toml:4", "/h/dsh-env.toml:6"]);
}

#[test]
fn a_limit_may_be_as_high_as_its_ceiling_and_no_lower_than_what_works() {
    let highest = r#"
        [limits]
        cpu = "5s"
        wall = "5000ms"
        memory = "1GiB"
        table-elements = 1_000_000
        instances = 0x3e8
        output = "64MiB"
        log = "1MiB"
        variables = 128
        value = "128KiB"
    "#;
    let configuration = parse(highest).unwrap();
    assert_eq!(configuration.limits, Limits::CEILING);
    assert_eq!(configuration.values, ValueLimits { count: 128, bytes: 128 << 10 });
    let lowest = r#"limits = { cpu = "1ms", wall = "1ms", memory = "64KiB", table-elements = 1, instances = 1, output = "1B", log = "1B", variables = 1, value = "1B" }"#;
    assert_eq!(parse(lowest).unwrap().limits.memory, 64 << 10);
}

#[test]
fn a_general_limit_goes_for_a_section_that_came_before_it() {
    let text = "[contributors.a.limits]\ncpu = \"1s\"\n[limits]\ncpu = \"2s\"\nwall = \"3s\"\n";
    let (limits, _) = parse(text).unwrap().of_contributor("a");
    assert_eq!((limits.cpu, limits.wall), (Duration::from_secs(1), Duration::from_secs(3)));
}

#[test]
fn a_stand_in_may_be_empty_and_as_long_as_a_value() {
    let with = |value: &str| {
        let text = format!("[contributors.a]\nlimits.value = \"4B\"\nkeys.DSH_A.on-failure.value = \"{value}\"\n");
        parse(&text).map(|configuration| configuration.of_contributor("a").1.on_failure(&key("DSH_A")).clone())
    };
    assert_eq!(with("").unwrap(), OnFailure::Value(String::new()));
    assert_eq!(with("1234").unwrap(), OnFailure::Value("1234".into()));
    assert!(with("12345").is_err());
}

#[test]
fn the_configuration_does_not_show_what_stands_in_for_a_value() {
    let text = "[contributors.a.keys.DSH_A]\non-failure = { value = \"hunter2\" }\n";
    assert!(!format!("{:?}", parse(text).unwrap()).contains("hunter2"));
}

/// Lines that are nearly right.
fn nearly_toml() -> impl Strategy<Value = String> {
    let line = proptest::sample::select(vec![
        "[limits]",
        "[contributors.a]",
        "[contributors.a.keys.DSH_A]",
        "[[contributors]]",
        "[sessions]",
        "[trust]",
        "[facts.a]",
        "[server]",
        "[telemetry]",
        "[contributors.a.shadow]",
        "command = [\"x\"]",
        "command = []",
        "every = \"1s\"",
        "grants = { facts = [\"a\", \"\"] }",
        "on-failure = { last-good = \"1h\" }",
        "prometheus = \"[::1]:1\"",
        "traces = \"http://\u{1b}\"",
        "log = \"[{\"",
        "[",
        "cpu = \"1s\"",
        "cpu = 1",
        "memory = \"1MiB\"",
        "instances = 99999999999999999999",
        "instances = -1",
        "on-failure = { value = \"x\" }",
        "on-failure = \"omit\"",
        "match = '('",
        "enabled = true",
        "enabled = 1979-05-27",
        "root = \"\"",
        "a.b.c = 1",
        "\"\" = 1",
        "'\u{1b}[31m' = []",
        "x = \"\\u0000\"",
        "limits = {",
        "}",
        "\"\"\"",
        "\u{feff}",
        "\r",
        "= 1",
    ]);
    proptest::collection::vec(line, 0..8).prop_map(|lines| lines.join("\n"))
}

proptest! {
    #[test]
    fn no_text_panics_and_every_mistake_has_a_place(text in prop_oneof![any::<String>(), nearly_toml()]) {
        if let Err(error) = parse(&text) {
            prop_assert_eq!(error.code(), Code::InvalidConfiguration);
            let mut place = error.message().strip_prefix("/h/dsh-env.toml:").unwrap().splitn(3, ':');
            let line: usize = place.next().unwrap().parse().unwrap();
            let column: usize = place.next().unwrap().parse().unwrap();
            prop_assert!(line >= 1 && line <= text.split('\n').count() && column >= 1, "{}", error);
            prop_assert!(!error.message().chars().any(char::is_control), "{}", error);
        }
    }
}
