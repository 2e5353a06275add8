//! Grants, in the configuration and as flags of the command line.

use super::*;
use crate::sandbox::{Extensions, Workspace, WorkspaceKind};

/// What a table of grants means in the configuration.
fn granted(table: &str) -> Result<Grants> {
    parse(&format!("[contributors.a]\ngrants = {table}\n")).map(|configuration| configuration.grants_of("a"))
}

fn told(tables: &[&str]) -> String {
    let lines = tables.iter().map(|table| granted(table).unwrap_err().message().to_owned());
    lines.collect::<Vec<_>>().join("\n")
}

fn names(extensions: &[&str]) -> Extensions {
    Extensions::Named(extensions.iter().map(|&name| name.to_owned()).collect())
}

#[test]
fn nothing_is_granted_unless_it_is_said() {
    for table in ["{}", "{ clock = false, random = false, config = false, env = [], extensions = [] }"] {
        assert!(granted(table).unwrap().is_empty(), "{table}");
    }
    assert!(parse("[contributors.a]\nsettings = { x = \"y\" }\n").unwrap().grants_of("a").is_empty());
}

#[test]
fn settings_are_read_by_whom_they_are_granted_to() {
    let configuration = parse("[contributors.a]\ngrants.config = true\n").unwrap();
    assert_eq!(configuration.grants_of("a").config, Some(Settings::default()));
    let text = "[contributors.a]\ngrants.config = true\n[contributors.a.settings]\nn = -1_000\nb = false\ns = \"\"\n";
    let Settings(settings) = parse(text).unwrap().grants_of("a").config.unwrap();
    let settings: Vec<_> = settings.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    assert_eq!(settings, [("b", "false"), ("n", "-1000"), ("s", "")]);
}

#[test]
fn all_extensions_are_granted_by_a_star() {
    for table in [r#"{ extensions = "*" }"#, r#"{ extensions = ["*"] }"#, r#"{ extensions = ["a", "*"] }"#] {
        assert_eq!(granted(table).unwrap().extensions, Extensions::All, "{table}");
    }
    assert_eq!(granted(r#"{ extensions = ["a", "dsh.b"] }"#).unwrap().extensions, names(&["a", "dsh.b"]));
}

#[test]
fn a_bound_may_begin_at_the_users_home() {
    let home = dirs::home_dir().unwrap();
    for (text, path) in [("~", home.clone()), ("~/src", home.join("src")), ("/srv", "/srv".into())] {
        let workspace = granted(&format!("{{ workspace = \"session\", within = \"{text}\" }}")).unwrap().workspace;
        assert_eq!(workspace, Some(Workspace { kind: WorkspaceKind::Session, within: Some(path) }));
    }
}

#[test]
fn a_grant_that_cannot_be_meant_is_told_with_its_place() {
    insta::assert_snapshot!(told(&[
        "true",
        "{ clok = true }",
        "{ network = true }",
        "{ clock = 1 }",
        r#"{ workspace = "repo" }"#,
        "{ workspace = true }",
        r#"{ within = "/srv" }"#,
        r#"{ workspace = "workdir", within = "src" }"#,
        r#"{ workspace = "workdir", within = "~bob/src" }"#,
        r#"{ workspace = "workdir", within = " " }"#,
        r#"{ env = "CI" }"#,
        r#"{ env = ["CI", 1] }"#,
        r#"{ env = ["CI", ""] }"#,
        r#"{ env = ["A=B"] }"#,
        r#"{ env = ["A\u0000B"] }"#,
        r#"{ env = ["CI", "DSH_HOME"] }"#,
        r#"{ env = ["dsh_anything"] }"#,
        r#"{ extensions = "com.acme.ticket" }"#,
        r#"{ extensions = ["com.acme.*"] }"#,
        r#"{ extensions = [""] }"#,
        r#"{ extensions = [["a"]] }"#,
        r#"{ config = { remote = "hunter2" } }"#,
    ]), @r#"
    /h/dsh-env.toml:2:10: "grants" in [contributors.a] is a boolean: expected a table, such as grants = { … }, or its own section [contributors.a.grants]
    /h/dsh-env.toml:2:12: unknown setting "clok" in [contributors.a.grants]: did you mean "clock"?
    /h/dsh-env.toml:2:12: there is no grant of the network: remove it
    /h/dsh-env.toml:2:20: "clock" in [contributors.a.grants] is an integer: expected true or false, such as clock = true
    /h/dsh-env.toml:2:24: "workspace" in [contributors.a.grants] is "repo": expected "workdir", "session" or "repository", such as workspace = "workdir"
    /h/dsh-env.toml:2:24: "workspace" in [contributors.a.grants] is a boolean: expected "workdir", "session" or "repository", such as workspace = "workdir"
    /h/dsh-env.toml:2:21: "within" in [contributors.a.grants] bounds a workspace, and none is granted: set workspace, or remove it
    /h/dsh-env.toml:2:44: "within" in [contributors.a.grants] is not an absolute path: begin it with / or ~/
    /h/dsh-env.toml:2:44: "within" in [contributors.a.grants] is not an absolute path: begin it with / or ~/
    /h/dsh-env.toml:2:44: "within" in [contributors.a.grants] names no folder: name one, or leave it out
    /h/dsh-env.toml:2:18: "env" in [contributors.a.grants] is a string: expected a list of names of variables, such as env = ["CI"]
    /h/dsh-env.toml:2:25: "env" in [contributors.a.grants] has something that is no string: expected a list of names of variables, such as env = ["CI"]
    /h/dsh-env.toml:2:25: "env" in [contributors.a.grants] has "", which no variable is called: remove it
    /h/dsh-env.toml:2:19: "env" in [contributors.a.grants] has "A=B", which no variable is called: remove it
    /h/dsh-env.toml:2:19: "env" in [contributors.a.grants] has "A\u{0}B", which no variable is called: remove it
    /h/dsh-env.toml:2:25: "env" in [contributors.a.grants] has DSH_HOME, a managed name, and whatever is inherited under one need not be true: remove it
    /h/dsh-env.toml:2:19: "env" in [contributors.a.grants] has dsh_anything, a managed name, and whatever is inherited under one need not be true: remove it
    /h/dsh-env.toml:2:25: "extensions" in [contributors.a.grants] is "com.acme.ticket": expected a list of names, or "*" for all, such as extensions = ["com.acme.ticket"]
    /h/dsh-env.toml:2:26: "extensions" in [contributors.a.grants] has "com.acme.*", and names are no patterns: name each extension, or grant all by "*"
    /h/dsh-env.toml:2:26: "extensions" in [contributors.a.grants] has an empty name: remove it
    /h/dsh-env.toml:2:26: "extensions" in [contributors.a.grants] has something that is no string: expected a list of names, or "*" for all, such as extensions = ["com.acme.ticket"]
    /h/dsh-env.toml:2:12: "config" in [contributors.a.grants] is a table: expected true or false, such as config = true
    "#);
}

#[test]
fn a_setting_that_cannot_be_meant_is_told_without_its_value() {
    let told = [
        "[contributors.a]\nsettings = \"hunter2\"\n",
        "[contributors.a.settings]\nx = [\"hunter2\"]\n",
        "[contributors.a.settings]\nx.y = \"hunter2\"\n",
        "[contributors.a.settings]\nx = 1.5\n",
        "[contributors.a.settings]\nx = 99999999999999999999\n",
        "[contributors.a.settings]\n\"\" = \"hunter2\"\n",
        "[contributors.a.settings]\n\"facts.x\" = \"hunter2\"\n",
    ]
    .map(|text| parse(text).unwrap_err().message().to_owned())
    .join("\n");
    assert!(!told.contains("hunter2"));
    insta::assert_snapshot!(told, @r#"
    /h/dsh-env.toml:2:12: "settings" in [contributors.a] is a string: expected a table, such as settings = { … }, or its own section [contributors.a.settings]
    /h/dsh-env.toml:2:5: "x" in [contributors.a.settings] is an array: expected a string, a whole number, or true or false, such as x = "…"
    /h/dsh-env.toml:2:1: "x" in [contributors.a.settings] is a table: expected a string, a whole number, or true or false, such as x = "…"
    /h/dsh-env.toml:2:5: "x" in [contributors.a.settings] is a float: expected a string, a whole number, or true or false, such as x = "…"
    /h/dsh-env.toml:2:5: "x" in [contributors.a.settings] is a number that is too large: write it as a string
    /h/dsh-env.toml:2:1: this setting has no name that could be asked for: give it one
    /h/dsh-env.toml:2:13: "facts.x" in [contributors.a.settings] has a name that facts have: choose one that does not begin with facts.
    "#);
}

#[test]
fn the_configuration_does_not_show_settings() {
    let text = "[contributors.a]\ngrants.config = true\nsettings = { token = \"hunter2\" }\n";
    let configuration = parse(text).unwrap();
    assert!(!format!("{configuration:?}").contains("hunter2"));
    assert!(!serde_json::to_string(&configuration.grants_of("a")).unwrap().contains("hunter2"));
}

mod flags {
    use super::*;

    fn granted_by(flags: &[&str]) -> Grants {
        read_grants(flags.iter().copied()).unwrap()
    }

    #[test]
    fn every_grant_has_a_short_form() {
        let grants = granted_by(&[
            "clock",
            "random=true",
            "workspace=repository",
            "within=/srv",
            "env=CI,LANG",
            "extensions=a,b",
            "config.remote=origin=x",
            "config.depth=2",
        ]);
        let table = r#"{ workspace = "repository", within = "/srv", env = ["CI", "LANG"], extensions = ["a", "b"], clock = true, random = true, config = true }"#;
        let text = format!("[contributors.a]\ngrants = {table}\nsettings = {{ remote = \"origin=x\", depth = 2 }}\n");
        assert_eq!(grants, parse(&text).unwrap().grants_of("a"));
        // And the long one is the configuration's.
        assert_eq!(granted_by(&[table, "config.remote=origin=x", "config.depth=2"]), grants);
        assert!(granted_by(&[]).is_empty());
    }

    #[test]
    fn later_flags_add_to_lists_and_take_the_place_of_the_rest() {
        assert_eq!(granted_by(&["env=B", "env=A,B"]).env, ["A".to_owned(), "B".to_owned()].into());
        assert_eq!(granted_by(&["extensions=a", "{ extensions = [\"b\"] }"]).extensions, names(&["a", "b"]));
        for flags in [["extensions=*", "extensions=a"], ["extensions=a", "extensions=*"]] {
            assert_eq!(granted_by(&flags).extensions, Extensions::All);
        }
        assert!(!granted_by(&["clock", "clock=false"]).clock);
        let workspace = granted_by(&["within=/b", "workspace=workdir", "{ workspace = \"session\", within = \"/a\" }"]);
        let expected = Workspace { kind: WorkspaceKind::Session, within: Some("/a".into()) };
        assert_eq!(workspace.workspace, Some(expected));
        assert_eq!(granted_by(&["config"]).config, Some(Settings::default()));
        let Settings(settings) = granted_by(&["config.a=1", "config.a=2"]).config.unwrap();
        assert_eq!(settings["a"], "2");
    }

    #[test]
    fn a_bound_may_be_relative_to_the_current_directory() {
        let current = std::env::current_dir().unwrap();
        let within = |text: &str| granted_by(&["workspace=workdir", text]).workspace.unwrap().within.unwrap();
        assert_eq!(within("within=."), current);
        assert_eq!(within("within=src/../lib"), current.join("lib"));
        assert_eq!(within("within=~/src"), dirs::home_dir().unwrap().join("src"));
    }

    #[test]
    fn a_flag_that_cannot_be_meant_names_the_nearest_and_no_value_of_a_setting() {
        let told = [
            "clok",
            "workspaces=workdir",
            "network",
            "",
            "=x",
            "workspace",
            "workspace=repo",
            "within=/srv",
            "clock=yes",
            "env",
            "env=",
            "env=CI,,LANG",
            "env=DSH_HOME",
            "extensions=com.*",
            "facts=cluster",
            "config=remote",
            "config.remote",
            "config.=hunter2",
            "config.facts.x=hunter2",
            "{ clok = true }",
            "{ clock = ture }",
            "{ clock = true",
            "{ clock = true } x",
        ]
        .map(|flag| {
            let error = read_grants([flag]).unwrap_err();
            assert_eq!(error.code(), Code::InvalidConfiguration);
            error.message().to_owned()
        })
        .join("\n");
        assert!(!told.contains("hunter2"));
        insta::assert_snapshot!(told, @r#"
        --grant: unknown grant "clok": did you mean "clock"?
        --grant: unknown grant "workspaces": did you mean "workspace"?
        --grant: there is no grant of the network: remove it
        --grant: unknown grant "": there are workspace, within, env, extensions, config, clock, random
        --grant: unknown grant "": there are workspace, within, env, extensions, config, clock, random
        --grant: "workspace" is a boolean: expected "workdir", "session" or "repository", such as workspace = "workdir"
        --grant: "workspace" is "repo": expected "workdir", "session" or "repository", such as workspace = "workdir"
        --grant: within bounds a workspace, and none is granted: add --grant workspace=workdir
        --grant: "clock" is a string: expected true or false, such as clock = true
        --grant: "env" is a boolean: expected a list of names of variables, such as env = ["CI"]
        --grant: "env" has "", which no variable is called: remove it
        --grant: "env" has "", which no variable is called: remove it
        --grant: "env" has DSH_HOME, a managed name, and whatever is inherited under one need not be true: remove it
        --grant: "extensions" has "com.*", and names are no patterns: name each extension, or grant all by "*"
        --grant: only a host that goes on knows facts, and flags grant for one command: install the contributor, and grant it facts in [contributors.NAME] of the configuration
        --grant: "config" is a string: expected true or false, such as config = true
        --grant: a setting has a name and a value, such as config.remote=origin
        --grant: a setting has a name and a value, such as config.remote=origin
        --grant: "facts.x" has a name that facts have: choose one that does not begin with facts.
        --grant: unknown grant "clok": did you mean "clock"?
        --grant: this is not valid TOML: invalid boolean, expected `true`
        --grant: this is not valid TOML: unclosed inline table, expected `}`
        --grant: this is not valid TOML: unexpected content, expected nothing
        "#);
    }

    proptest::proptest! {
        #[test]
        fn no_flag_panics(text in "(config\\.|env=|\\{|within=)?\\PC{0,30}") {
            let _ = read_grants([text.as_str()]);
        }
    }
}
