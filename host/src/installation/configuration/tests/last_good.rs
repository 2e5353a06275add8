//! The policy to go on with the last good values.

use std::time::Duration;

use super::*;
use crate::contract::Key;
use crate::registry::OnFailure;

/// The policy of a contributor, and that of a key, both read from the same words.
fn policies(policy: &str) -> [OnFailure; 2] {
    let text = format!("[contributors.a]\non-failure = {policy}\n[contributors.b.keys.DSH_B]\non-failure = {policy}\n");
    let configuration = parse(&text).unwrap();
    let (_, of_contributor) = configuration.of_contributor("a");
    let (_, of_key) = configuration.of_contributor("b");
    assert_eq!(of_key.on_failure, OnFailure::Fail);
    [of_contributor.on_failure, of_key.on_failure(&Key::new("DSH_B").unwrap()).clone()]
}

#[test]
fn the_last_good_values_may_be_gone_on_with_for_a_millisecond_to_a_day() {
    for (text, time) in [("1ms", 1), ("10m", 600_000), ("24h", 86_400_000)] {
        let expected = OnFailure::LastGood(Duration::from_millis(time));
        assert_eq!(policies(&format!("{{ last-good = \"{text}\" }}")), [expected.clone(), expected]);
    }
    let dotted = parse("[contributors.a]\non-failure.last-good = \"2h\"\n").unwrap();
    assert_eq!(dotted.of_contributor("a").1.on_failure, OnFailure::LastGood(Duration::from_secs(7200)));
}

#[test]
fn the_policy_of_a_key_goes_before_that_of_its_contributor() {
    let text = "[contributors.a]\non-failure = { last-good = \"10m\" }\nkeys.DSH_A.on-failure = \"omit\"\nkeys.DSH_B.on-failure.last-good = \"1m\"\nkeys.DSH_C.match = \"x\"\n";
    let (_, terms) = parse(text).unwrap().of_contributor("a");
    let policy = |key: &str| terms.on_failure(&Key::new(key).unwrap()).clone();
    assert_eq!(policy("DSH_A"), OnFailure::Omit);
    assert_eq!(policy("DSH_B"), OnFailure::LastGood(Duration::from_secs(60)));
    assert_eq!(policy("DSH_C"), OnFailure::LastGood(Duration::from_secs(600)));
}

#[test]
fn what_cannot_be_meant_is_told_with_its_place() {
    insta::assert_snapshot!(told(&[
        "[contributors.a]\non-failure = \"last-good\"\n",
        "[contributors.a]\non-failure = { last-good = true }\n",
        "[contributors.a]\non-failure = { last-good = 600 }\n",
        "[contributors.a]\non-failure = { last-good = \"ten minutes\" }\n",
        "[contributors.a]\non-failure = { last-good = \"0s\" }\n",
        "[contributors.a]\non-failure = { last-good = \"25h\" }\n",
        "[contributors.a]\non-failure = { lastgood = \"10m\" }\n",
        "[contributors.a]\non-failure = { last-good = \"10m\", value = \"hunter2\" }\n",
        "[contributors.a.keys.DSH_A]\non-failure = \"last-good\"\n",
        "[contributors.a.keys.DSH_A]\non-failure = { last-good = \"25h\" }\n",
        "[contributors.a.keys.DSH_A]\non-failure = { last_good = \"10m\" }\n",
        "[contributors.a.keys.DSH_A]\non-failure = { last-good = \"10m\", value = \"hunter2\" }\n",
    ]), @r#"
    /h/dsh-env.toml:2:14: "on-failure" in [contributors.a] is "last-good": expected "fail", "omit" or { last-good = "10m" }, such as on-failure = "omit"
    /h/dsh-env.toml:2:28: "last-good" in [contributors.a.on-failure] is a boolean: expected a time in ms, s, m or h, such as last-good = "10m"
    /h/dsh-env.toml:2:28: "last-good" in [contributors.a.on-failure] is an integer: expected a time in ms, s, m or h, such as last-good = "10m"
    /h/dsh-env.toml:2:28: "last-good" in [contributors.a.on-failure] is "ten minutes": expected a time in ms, s, m or h, such as last-good = "10m"
    /h/dsh-env.toml:2:28: "last-good" in [contributors.a.on-failure] is "0s": at least 1ms is needed
    /h/dsh-env.toml:2:28: "last-good" in [contributors.a.on-failure] is "25h": at most 24h can be allowed
    /h/dsh-env.toml:2:16: unknown setting "lastgood" in [contributors.a.on-failure]: did you mean "last-good"?
    /h/dsh-env.toml:2:1: "on-failure" in [contributors.a] has a value, which single keys have: set on-failure in [contributors.NAME.keys.KEY]
    /h/dsh-env.toml:2:14: "on-failure" in [contributors.a.keys.DSH_A] is "last-good": expected "fail", "omit", { last-good = "10m" } or { value = "…" }, such as on-failure = "omit"
    /h/dsh-env.toml:2:28: "last-good" in [contributors.a.keys.DSH_A.on-failure] is "25h": at most 24h can be allowed
    /h/dsh-env.toml:2:16: unknown setting "last_good" in [contributors.a.keys.DSH_A.on-failure]: did you mean "last-good"?
    /h/dsh-env.toml:2:1: "on-failure" in [contributors.a.keys.DSH_A] has both value and last-good, and one alone can stand in: remove the other
    "#);
}
