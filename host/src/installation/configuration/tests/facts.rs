//! Facts: how they are found out, and who is granted them.

use std::time::Duration;

use super::*;

/// The settings of a fact whose section says this beside a command and how often.
fn fact(text: &str) -> FactSettings {
    parse(&format!("[facts.x]\ncommand = [\"x\"]\n{text}\n")).unwrap().facts["x"].clone()
}

fn seconds(number: u64) -> Duration {
    Duration::from_secs(number)
}

#[test]
fn every_setting_of_a_fact_has_its_effect() {
    let text = include_str!("../../../../../tests/fixtures/configuration/complete.toml");
    let facts = parse(text).unwrap().facts;
    let cluster = FactSettings {
        command: ["kubectl", "config", "current-context"].map(str::to_owned).into(),
        every: seconds(30),
        timeout: seconds(2),
        time_to_live: seconds(3 * 3600),
        size: 1 << 10,
    };
    let on_call = FactSettings::new(vec!["./on-call".to_owned()], seconds(3600));
    assert_eq!(facts, [("cluster".to_owned(), cluster), ("on-call".to_owned(), on_call)].into());
}

#[test]
fn a_fact_holds_until_one_run_has_failed_and_the_next_was_slow_unless_it_is_said() {
    let default = fact("every = \"30s\"");
    assert_eq!((default.timeout, default.size), (seconds(5), 4 << 10));
    assert_eq!(default.time_to_live, seconds(65));
    assert_eq!(fact("every = \"30s\"\ntimeout = \"10s\"").time_to_live, seconds(70));
    assert_eq!(fact("every = \"30s\"\nttl = \"10s\"").time_to_live, seconds(10));
}

#[test]
fn a_fact_may_be_as_quick_and_as_slow_as_this() {
    let least = fact("every = \"1s\"\ntimeout = \"1ms\"\nttl = \"1s\"\nsize = \"1B\"");
    assert_eq!((least.every, least.timeout, least.time_to_live), (seconds(1), Duration::from_millis(1), seconds(1)));
    assert_eq!(least.size, 1);
    let most = fact("every = \"24h\"\ntimeout = \"5m\"\nttl = \"72h\"\nsize = \"32KiB\"");
    assert_eq!((most.every, most.timeout, most.time_to_live), (seconds(86_400), seconds(300), seconds(3 * 86_400)));
    assert_eq!(most.size, 32 << 10);
}

#[test]
fn a_command_is_run_as_it_is_written() {
    let of = |command: &str| parse(&format!("[facts.x]\nevery = \"1s\"\ncommand = {command}\n")).unwrap();
    let command = of(r#"["sh", "-c", "echo $HOME", "", "~"]"#).facts["x"].command.clone();
    assert_eq!(command, ["sh", "-c", "echo $HOME", "", "~"]);
}

#[test]
fn a_fact_that_cannot_be_meant_is_told_with_its_place() {
    insta::assert_snapshot!(told(&[
        "facts = [\"cluster\"]\n",
        "[fact.cluster]\n",
        "[facts]\ncluster = \"kind\"\n",
        "[facts.Cluster]\n",
        "[facts.\"\"]\n",
        "[facts.\"a b\"]\n",
        "[facts.x]\n",
        "[facts.x]\ncommand = [\"x\"]\n",
        "[facts.x]\n\nevery = \"30s\"\n",
        "[facts.x]\ncomand = [\"x\"]\nevery = \"30s\"\n",
        "[facts.x]\ncommand = [\"x\"]\nevry = \"30s\"\n",
        "[facts.x]\ncommand = [\"x\"]\nevery = \"30s\"\ntime-to-live = \"1m\"\n",
        "[facts.x]\ncommand = \"kubectl config current-context\"\nevery = \"30s\"\n",
        "[facts.x]\ncommand = []\n",
        "[facts.x]\ncommand = [\"\", \"a\"]\n",
        "[facts.x]\ncommand = [\"sh\", 1]\n",
        "[facts.x]\ncommand = [\"sh\", \"a\\u0000b\"]\n",
        "[facts.x]\nevery = 30\n",
        "[facts.x]\nevery = \"often\"\n",
        "[facts.x]\nevery = \"999ms\"\n",
        "[facts.x]\nevery = \"25h\"\n",
        "[facts.x]\ntimeout = \"0s\"\n",
        "[facts.x]\ntimeout = \"301s\"\n",
        "[facts.x]\nttl = \"0ms\"\n",
        "[facts.x]\nttl = \"73h\"\n",
        "[facts.x]\nsize = \"0B\"\n",
        "[facts.x]\nsize = \"33KiB\"\n",
        "[facts.x]\nsize = 4096\n",
    ]), @r#"
    /h/dsh-env.toml:1:9: "facts" is an array: expected a table, such as facts = { … }, or its own section [facts]
    /h/dsh-env.toml:1:2: unknown setting "fact": did you mean "facts"?
    /h/dsh-env.toml:2:11: "cluster" in [facts] is a string: expected a table, such as cluster = { … }, or its own section [facts.cluster]
    /h/dsh-env.toml:1:8: "Cluster" is no fact's name: a name begins with a lower-case letter or digit, goes on with those and . _ -, and has at most 63 bytes
    /h/dsh-env.toml:1:8: "" is no fact's name: a name begins with a lower-case letter or digit, goes on with those and . _ -, and has at most 63 bytes
    /h/dsh-env.toml:1:8: "a b" is no fact's name: a name begins with a lower-case letter or digit, goes on with those and . _ -, and has at most 63 bytes
    /h/dsh-env.toml:1:8: "x" in [facts] lacks its command: add command = ["…"]
    /h/dsh-env.toml:1:8: "x" in [facts] lacks how often it is found out: add every = "30s"
    /h/dsh-env.toml:1:8: "x" in [facts] lacks its command: add command = ["…"]
    /h/dsh-env.toml:2:1: unknown setting "comand" in [facts.x]: did you mean "command"?
    /h/dsh-env.toml:3:1: unknown setting "evry" in [facts.x]: did you mean "every"?
    /h/dsh-env.toml:4:1: unknown setting "time-to-live" in [facts.x]: there are command, every, timeout, ttl, size
    /h/dsh-env.toml:2:11: "command" in [facts.x] is a string: expected a list of a program and its arguments, such as command = ["kubectl", "config", "current-context"]
    /h/dsh-env.toml:2:11: "command" in [facts.x] is empty: expected a list of a program and its arguments, such as command = ["kubectl", "config", "current-context"]
    /h/dsh-env.toml:2:11: "command" in [facts.x] names no program: name one
    /h/dsh-env.toml:2:18: "command" in [facts.x] has something that is no string: expected a list of a program and its arguments, such as command = ["kubectl", "config", "current-context"]
    /h/dsh-env.toml:2:18: "command" in [facts.x] has a NUL character, which no argument can have: leave it out
    /h/dsh-env.toml:2:9: "every" in [facts.x] is an integer: expected a time in ms, s, m or h, such as every = "30s"
    /h/dsh-env.toml:2:9: "every" in [facts.x] is "often": expected a time in ms, s, m or h, such as every = "30s"
    /h/dsh-env.toml:2:9: "every" in [facts.x] is "999ms": at least 1s is needed
    /h/dsh-env.toml:2:9: "every" in [facts.x] is "25h": at most 24h can be allowed
    /h/dsh-env.toml:2:11: "timeout" in [facts.x] is "0s": at least 1ms is needed
    /h/dsh-env.toml:2:11: "timeout" in [facts.x] is "301s": at most 5m can be allowed
    /h/dsh-env.toml:2:7: "ttl" in [facts.x] is "0ms": at least 1s is needed
    /h/dsh-env.toml:2:7: "ttl" in [facts.x] is "73h": at most 72h can be allowed
    /h/dsh-env.toml:2:8: "size" in [facts.x] is "0B": at least 1B is needed
    /h/dsh-env.toml:2:8: "size" in [facts.x] is "33KiB": at most 32KiB can be allowed
    /h/dsh-env.toml:2:8: "size" in [facts.x] is an integer: expected a size in B, KiB, MiB or GiB, such as size = "4KiB"
    "#);
}

#[test]
fn facts_are_granted_by_their_names_whether_or_not_anybody_finds_them_out_yet() {
    let granted = |list: &str| {
        let configuration = parse(&format!("[contributors.a]\ngrants.facts = {list}\n")).unwrap();
        configuration.grants_of("a")
    };
    assert!(granted("[]").is_empty());
    let grants = granted(r#"["cluster", "on-call", "cluster"]"#);
    assert_eq!(grants.facts, ["cluster".to_owned(), "on-call".to_owned()].into());
    assert_eq!(grants, Grants { facts: grants.facts.clone(), ..Grants::default() });
}

#[test]
fn a_grant_of_facts_that_cannot_be_meant_is_told_with_its_place() {
    insta::assert_snapshot!(told(&[
        "[contributors.a]\ngrants = { facts = true }\n",
        "[contributors.a]\ngrants = { facts = \"cluster\" }\n",
        "[contributors.a]\ngrants = { facts = [1] }\n",
        "[contributors.a]\ngrants = { facts = [\"\"] }\n",
        "[contributors.a]\ngrants = { facts = [\"cluster\", \"*\"] }\n",
        "[contributors.a]\ngrants = { facts = [\"facts cluster\"] }\n",
        "[contributors.a]\ngrants = { fact = [\"cluster\"] }\n",
        "[contributors.a]\nfacts = [\"cluster\"]\n",
    ]), @r#"
    /h/dsh-env.toml:2:20: "facts" in [contributors.a.grants] is a boolean: expected a list of names of facts, such as facts = ["cluster"]
    /h/dsh-env.toml:2:20: "facts" in [contributors.a.grants] is a string: expected a list of names of facts, such as facts = ["cluster"]
    /h/dsh-env.toml:2:21: "facts" in [contributors.a.grants] has something that is no string: expected a list of names of facts, such as facts = ["cluster"]
    /h/dsh-env.toml:2:21: "facts" in [contributors.a.grants] has one that cannot be: "" is no fact's name: a name begins with a lower-case letter or digit, goes on with those and . _ -, and has at most 63 bytes
    /h/dsh-env.toml:2:32: "facts" in [contributors.a.grants] has one that cannot be: "*" is no fact's name: a name begins with a lower-case letter or digit, goes on with those and . _ -, and has at most 63 bytes
    /h/dsh-env.toml:2:21: "facts" in [contributors.a.grants] has one that cannot be: "facts cluster" is no fact's name: a name begins with a lower-case letter or digit, goes on with those and . _ -, and has at most 63 bytes
    /h/dsh-env.toml:2:12: unknown setting "fact" in [contributors.a.grants]: did you mean "facts"?
    /h/dsh-env.toml:2:1: unknown setting "facts" in [contributors.a]: there are settings, grants, limits, enabled, required, on-failure, show-guest-text, keys, shadow
    "#);
}
