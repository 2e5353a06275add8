//! What a configuration that is wrong is answered with.

use super::*;

#[test]
fn a_setting_that_does_not_exist_has_its_line_and_the_nearest_name() {
    insta::assert_snapshot!(told(&[
        "\n\n[contributors.git-workspace]\nrequird = true\n",
        "[limit]\ncpu = \"1s\"\n",
        "[limits]\n  memroy = \"1MiB\"\n",
        "[limits]\ntimeout = \"1s\"\n",
        "[sessions]\nbackends = \"jsonl\"\n",
        "contributors.a.on_failure = \"omit\"\n",
        "contributors = { a = { limits = { cpus = \"1s\" } } }\n",
        "[contributors.a.keys.DSH_A]\nmatches = \"x\"\n",
        "[contributors.a]\non-failure = { omit = true }\n",
        "[contributors.a.keys.DSH_A]\non-failure = { valu = \"x\" }\n",
        "[contributors.\"a.b\"]\n\"\\u001b[31m\" = 1\n",
        "über = 1\n",
    ]), @r#"
    /h/dsh-env.toml:4:1: unknown setting "requird" in [contributors.git-workspace]: did you mean "required"?
    /h/dsh-env.toml:1:2: unknown setting "limit": did you mean "limits"?
    /h/dsh-env.toml:2:3: unknown setting "memroy" in [limits]: did you mean "memory"?
    /h/dsh-env.toml:2:1: unknown setting "timeout" in [limits]: there are cpu, wall, memory, table-elements, instances, output, log, variables, value
    /h/dsh-env.toml:2:1: unknown setting "backends" in [sessions]: did you mean "backend"?
    /h/dsh-env.toml:1:16: unknown setting "on_failure" in [contributors.a]: did you mean "on-failure"?
    /h/dsh-env.toml:1:35: unknown setting "cpus" in [contributors.a.limits]: did you mean "cpu"?
    /h/dsh-env.toml:2:1: unknown setting "matches" in [contributors.a.keys.DSH_A]: did you mean "match"?
    /h/dsh-env.toml:2:16: unknown setting "omit" in [contributors.a.on-failure]: there are last-good
    /h/dsh-env.toml:2:16: unknown setting "valu" in [contributors.a.keys.DSH_A.on-failure]: did you mean "value"?
    /h/dsh-env.toml:2:1: unknown setting "\u{1b}[31m" in [contributors."a.b"]: there are settings, grants, limits, enabled, required, on-failure, show-guest-text, keys, shadow
    /h/dsh-env.toml:1:1: this is not valid TOML: invalid unquoted key, expected letters, numbers, `-`, `_`
    "#);
}

#[test]
fn of_two_settings_that_do_not_exist_the_first_in_the_file_is_told() {
    insta::assert_snapshot!(told(&["[limits]\nzzz = 1\naaa = 1\n"]), @r#"/h/dsh-env.toml:2:1: unknown setting "zzz" in [limits]: there are cpu, wall, memory, table-elements, instances, output, log, variables, value"#);
}

#[test]
fn what_uses_the_managed_environment_is_configured_as_strictly() {
    insta::assert_snapshot!(told(&[
        "[tools]\nshells = \"bash\"\n",
        "[tools]\nshells = [\"zsh\"]\n",
        "[hooks]\nclaude-code = [1]\n",
        "[hooks]\ncodex = [\" \"]\n",
        "[hooks]\ncodexx = []\n",
        "[hooks]\nblock-without-reason = \"yes\"\n",
        "[skills]\nhome = 1\n",
    ]), @r#"
    /h/dsh-env.toml:2:10: "shells" in [tools] is a string: expected a list of "bash" and "pwsh", such as shells = ["bash"]
    /h/dsh-env.toml:2:11: "shells" in [tools] is "zsh": expected a list of "bash" and "pwsh", such as shells = ["bash"]
    /h/dsh-env.toml:2:16: "claude-code" in [hooks] has something that is no string: expected a list of files, such as claude-code = ["~/.claude/settings.json"]
    /h/dsh-env.toml:2:10: "codex" in [hooks] names no file: name one, or remove it
    /h/dsh-env.toml:2:1: unknown setting "codexx" in [hooks]: did you mean "codex"?
    /h/dsh-env.toml:2:24: "block-without-reason" in [hooks] is a string: expected true or false, such as block-without-reason = true
    /h/dsh-env.toml:2:8: "home" in [skills] is an integer: expected a folder, such as home = "~/.dsh"
    "#);
}

#[test]
fn a_setting_of_another_version_is_not_ignored() {
    insta::assert_snapshot!(told(&[
        "[compile]\n",
    ]), @r#"/h/dsh-env.toml:1:2: this version does not have "compile": remove it"#);
}

#[test]
fn a_value_of_another_type_says_what_was_expected() {
    insta::assert_snapshot!(told(&[
        "contributors = 1\n",
        "[[contributors]]\n",
        "[contributors]\na = true\n",
        "limits = \"none\"\n",
        "[contributors.a]\nenabled = \"yes\"\n",
        "[contributors.a.enabled]\n",
        "[contributors.a]\nlimits = []\n",
        "[contributors.a]\nkeys = 1\n",
        "[contributors.a.keys]\nDSH_A = \"x\"\n",
        "[contributors.a]\non-failure = false\n",
        "[contributors.a.keys.DSH_A]\nmatch = 1\n",
        "[contributors.a.keys.DSH_A]\non-failure = 2.5\n",
        "[contributors.a.keys.DSH_A]\non-failure = { value = 1979-05-27 }\n",
        "[limits]\ncpu = 100\n",
        "[limits]\nmemory = 1e9\n",
        "[limits]\ninstances = \"64\"\n",
        "[sessions]\nroot = 1\n",
        "[sessions]\nbackend = true\n",
    ]), @r#"
    /h/dsh-env.toml:1:16: "contributors" is an integer: expected a table, such as contributors = { … }, or its own section [contributors]
    /h/dsh-env.toml:1:1: "contributors" is an array: expected a table, such as contributors = { … }, or its own section [contributors]
    /h/dsh-env.toml:2:5: "a" in [contributors] is a boolean: expected a table, such as a = { … }, or its own section [contributors.a]
    /h/dsh-env.toml:1:10: "limits" is a string: expected a table, such as limits = { … }, or its own section [limits]
    /h/dsh-env.toml:2:11: "enabled" in [contributors.a] is a string: expected true or false, such as enabled = true
    /h/dsh-env.toml:1:17: "enabled" in [contributors.a] is a table: expected true or false, such as enabled = true
    /h/dsh-env.toml:2:10: "limits" in [contributors.a] is an array: expected a table, such as limits = { … }, or its own section [contributors.a.limits]
    /h/dsh-env.toml:2:8: "keys" in [contributors.a] is an integer: expected a table, such as keys = { … }, or its own section [contributors.a.keys]
    /h/dsh-env.toml:2:9: "DSH_A" in [contributors.a.keys] is a string: expected a table, such as DSH_A = { … }, or its own section [contributors.a.keys.DSH_A]
    /h/dsh-env.toml:2:14: "on-failure" in [contributors.a] is a boolean: expected "fail", "omit" or { last-good = "10m" }, such as on-failure = "omit"
    /h/dsh-env.toml:2:9: "match" in [contributors.a.keys.DSH_A] is an integer: expected a regular expression, such as match = '^[\w./-]{1,255}$'
    /h/dsh-env.toml:2:14: "on-failure" in [contributors.a.keys.DSH_A] is a float: expected "fail", "omit", { last-good = "10m" } or { value = "…" }, such as on-failure = "omit"
    /h/dsh-env.toml:2:24: "value" in [contributors.a.keys.DSH_A.on-failure] is a date: expected a string, such as value = "unknown"
    /h/dsh-env.toml:2:7: "cpu" in [limits] is an integer: expected a time in ms, s, m or h, such as cpu = "100ms"
    /h/dsh-env.toml:2:10: "memory" in [limits] is a float: expected a size in B, KiB, MiB or GiB, such as memory = "64MiB"
    /h/dsh-env.toml:2:13: "instances" in [limits] is a string: expected a whole number, such as instances = 64
    /h/dsh-env.toml:2:8: "root" in [sessions] is an integer: expected a folder, such as root = "~/sessions"
    /h/dsh-env.toml:2:11: "backend" in [sessions] is a boolean: expected "jsonl" or "sqlite", such as backend = "jsonl"
    "#);
}

#[test]
fn a_value_of_the_right_type_may_still_say_nothing() {
    insta::assert_snapshot!(told(&[
        "[limits]\ncpu = \"100\"\n",
        "[limits]\nwall = \"a while\"\n",
        "[limits]\nmemory = \"64MB\"\n",
        "[contributors.a]\non-failure = \"ignore\"\n",
        "[contributors.a]\non-failure = {}\n",
        "[contributors.a.keys.DSH_A]\non-failure = \"omitt\"\n",
        "[contributors.a.keys.DSH_A]\non-failure = {}\n",
        "[contributors.a.keys.DSH_A]\nmatch = \"(\"\n",
        "[contributors.a.keys.DSH_A]\nmatch = '\\p{Nonsense}'\n",
        "[contributors.a.keys.DSH_A]\nmatch = '(?:\\w{1000}){1000}'\n",
        "[sessions]\nbackend = \"mysql\"\n",
        "[sessions]\ncompression = \"gzip\"\n",
        "[sessions]\nroot = \" \"\n",
        "[sessions]\nroot = \"a\\u0000b\"\n",
    ]), @r#"
    /h/dsh-env.toml:2:7: "cpu" in [limits] is "100": expected a time in ms, s, m or h, such as cpu = "100ms"
    /h/dsh-env.toml:2:8: "wall" in [limits] is "a while": expected a time in ms, s, m or h, such as wall = "1s"
    /h/dsh-env.toml:2:10: "memory" in [limits] is "64MB": expected a size in B, KiB, MiB or GiB, such as memory = "64MiB"
    /h/dsh-env.toml:2:14: "on-failure" in [contributors.a] is "ignore": expected "fail", "omit" or { last-good = "10m" }, such as on-failure = "omit"
    /h/dsh-env.toml:2:1: "on-failure" in [contributors.a] is an empty table: expected "fail", "omit" or { last-good = "10m" }, such as on-failure = "omit"
    /h/dsh-env.toml:2:14: "on-failure" in [contributors.a.keys.DSH_A] is "omitt": expected "fail", "omit", { last-good = "10m" } or { value = "…" }, such as on-failure = "omit"
    /h/dsh-env.toml:2:1: "on-failure" in [contributors.a.keys.DSH_A] is an empty table: expected "fail", "omit", { last-good = "10m" } or { value = "…" }, such as on-failure = { value = "unknown" }
    /h/dsh-env.toml:2:9: "match" in [contributors.a.keys.DSH_A] is not a regular expression: found open group without closing ')'
    /h/dsh-env.toml:2:9: "match" in [contributors.a.keys.DSH_A] is not a regular expression: Unicode character classes are not supported
    /h/dsh-env.toml:2:9: "match" in [contributors.a.keys.DSH_A] is not a regular expression: compiled regex exceeded size limit
    /h/dsh-env.toml:2:11: "backend" in [sessions] is "mysql": expected "jsonl" or "sqlite", such as backend = "jsonl"
    /h/dsh-env.toml:2:15: "compression" in [sessions] is "gzip": expected "none" or "zstd", such as compression = "zstd"
    /h/dsh-env.toml:2:8: "root" in [sessions] names no folder: name one, or leave it out
    /h/dsh-env.toml:2:8: "root" in [sessions] names no folder: name one, or leave it out
    "#);
}

#[test]
fn a_policy_with_a_value_belongs_to_a_key() {
    insta::assert_snapshot!(told(&["[contributors.a]\non-failure = { value = \"hunter2\" }\n"]), @r#"/h/dsh-env.toml:2:1: "on-failure" in [contributors.a] has a value, which single keys have: set on-failure in [contributors.NAME.keys.KEY]"#);
}

#[test]
fn a_stand_in_is_refused_without_being_shown() {
    let nul = "[contributors.a.keys.DSH_A]\non-failure = { value = \"hunter2\\u0000\" }\n";
    let long = format!("[contributors.a.keys.DSH_A]\non-failure = {{ value = \"{}\" }}\n", "hunter2".repeat(5000));
    let told = told(&[nul, &long]);
    assert!(!told.contains("hunter2"));
    insta::assert_snapshot!(told, @r#"
    /h/dsh-env.toml:2:24: "value" in [contributors.a.keys.DSH_A.on-failure] has a NUL character, which no environment variable can hold: leave it out
    /h/dsh-env.toml:2:24: "value" in [contributors.a.keys.DSH_A.on-failure] has 35000 bytes and the limit "value" is 32768: shorten it, or allow more
    "#);
}

#[test]
fn a_limit_is_neither_too_high_nor_nothing() {
    insta::assert_snapshot!(told(&[
        "[limits]\ncpu = \"0ms\"\n",
        "[limits]\ncpu = \"5001ms\"\n",
        "[limits]\nwall = \"1m\"\n",
        "[limits]\nmemory = \"65535B\"\n",
        "[limits]\nmemory = \"2GiB\"\n",
        "[limits]\nmemory = \"99999999999999999999GiB\"\n",
        "[limits]\ntable-elements = 0\n",
        "[limits]\ninstances = -1\n",
        "[limits]\ninstances = 1001\n",
        "[limits]\noutput = \"0B\"\n",
        "[limits]\nvariables = 129\n",
        "[limits]\nvalue = \"129KiB\"\n",
        "[contributors.a]\nlimits = { wall = \"6s\" }\n",
        "[cache]\nsize = \"15MiB\"\n",
        "[cache]\nsize = \"2000GiB\"\n",
        "[cache]\nsize = 1\n",
    ]), @r#"
    /h/dsh-env.toml:2:7: "cpu" in [limits] is "0ms": at least 1ms is needed
    /h/dsh-env.toml:2:7: "cpu" in [limits] is "5001ms": at most 5s can be allowed
    /h/dsh-env.toml:2:8: "wall" in [limits] is "1m": at most 5s can be allowed
    /h/dsh-env.toml:2:10: "memory" in [limits] is "65535B": at least 64KiB is needed
    /h/dsh-env.toml:2:10: "memory" in [limits] is "2GiB": at most 1GiB can be allowed
    /h/dsh-env.toml:2:10: "memory" in [limits] is "99999999999999999999GiB": at most 1GiB can be allowed
    /h/dsh-env.toml:2:18: "table-elements" in [limits] is 0: at least 1 is needed
    /h/dsh-env.toml:2:13: "instances" in [limits] is -1: at least 1 is needed
    /h/dsh-env.toml:2:13: "instances" in [limits] is 1001: at most 1000 can be allowed
    /h/dsh-env.toml:2:10: "output" in [limits] is "0B": at least 1B is needed
    /h/dsh-env.toml:2:13: "variables" in [limits] is 129: at most 128 can be allowed
    /h/dsh-env.toml:2:9: "value" in [limits] is "129KiB": at most 128KiB can be allowed
    /h/dsh-env.toml:2:19: "wall" in [contributors.a.limits] is "6s": at most 5s can be allowed
    /h/dsh-env.toml:2:8: "size" in [cache] is "15MiB": at least 16MiB is needed
    /h/dsh-env.toml:2:8: "size" in [cache] is "2000GiB": at most 1024GiB can be allowed
    /h/dsh-env.toml:2:8: "size" in [cache] is an integer: expected a size in B, KiB, MiB or GiB, such as size = "1GiB"
    "#);
}

#[test]
fn names_and_keys_follow_the_contract() {
    insta::assert_snapshot!(told(&[
        "[contributors.Git]\n",
        "[contributors.host]\n",
        "[contributors.\"\"]\n",
        "[contributors.a.keys.PATH]\n",
        "[contributors.a.keys.DSH_lower]\n",
        "[contributors.a.keys.DSH_HOME]\n",
    ]), @r#"
    /h/dsh-env.toml:1:15: "Git" is no contributor's name: a name begins with a lower-case letter or digit, goes on with those and . _ -, and has at most 63 bytes
    /h/dsh-env.toml:1:15: "host" is the host's own name: choose another for the contributor
    /h/dsh-env.toml:1:15: "" is no contributor's name: a name begins with a lower-case letter or digit, goes on with those and . _ -, and has at most 63 bytes
    /h/dsh-env.toml:1:22: "PATH" is no managed key: it does not begin with the prefix. A key is DSH_ followed by a capital letter and then capital letters, digits and underscores, at most 128 bytes
    /h/dsh-env.toml:1:22: "DSH_lower" is no managed key: the prefix is not followed by a capital letter. A key is DSH_ followed by a capital letter and then capital letters, digits and underscores, at most 128 bytes
    /h/dsh-env.toml:1:22: DSH_HOME belongs to the host, so no contributor returns it: remove it
    "#);
}

#[test]
fn what_is_no_toml_has_its_place() {
    insta::assert_snapshot!(told(&[
        "[limits\n",
        "[limits]\ncpu = 100ms\n",
        "[limits]\ncpu = \"1s\"\ncpu = \"2s\"\n",
        "[limits]\n[limits]\n",
        "a = \"\n",
        "a = [1,\n",
        "\u{1b}[31m",
        "[contributors.a]\nenabled\n",
        "[limits]\r\nüü = 1\r\n",
    ]), @r#"
    /h/dsh-env.toml:1:8: this is not valid TOML: unclosed table, expected `]`
    /h/dsh-env.toml:2:7: this is not valid TOML: string values must be quoted, expected literal string
    /h/dsh-env.toml:3:1: this is not valid TOML: duplicate key
    /h/dsh-env.toml:2:2: this is not valid TOML: duplicate key
    /h/dsh-env.toml:1:6: this is not valid TOML: invalid basic string, expected `"`
    /h/dsh-env.toml:1:8: this is not valid TOML: unclosed array, expected `]`
    /h/dsh-env.toml:1:2: this is not valid TOML: key with no value, expected `=`
    /h/dsh-env.toml:2:8: this is not valid TOML: key with no value, expected `=`
    /h/dsh-env.toml:2:1: this is not valid TOML: invalid unquoted key, expected letters, numbers, `-`, `_`
    "#);
}

#[test]
fn nesting_without_end_is_refused_and_does_not_exhaust_the_stack() {
    for text in [format!("a = {}", "[".repeat(100_000)), format!("{} = 1", vec!["a"; 100_000].join("."))] {
        assert_eq!(parse(&text).unwrap_err().code(), Code::InvalidConfiguration);
    }
}

#[test]
fn a_message_stays_short_whatever_is_written() {
    let long = "x".repeat(100_000);
    for text in [
        format!("{long} = 1\n"),
        format!("[contributors.{long}]\n"),
        format!("[contributors.a.keys.{long}]\n"),
        format!("[limits]\ncpu = \"{long}\"\n"),
        format!("[contributors.a]\non-failure = \"{long}\"\n"),
        format!("[contributors.a.keys.DSH_A]\nmatch = \"({long}\"\n"),
        format!("{long}\n"),
    ] {
        assert!(parse(&text).unwrap_err().message().len() < 2500);
    }
}
