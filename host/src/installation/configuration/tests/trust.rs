//! How far builds are trusted, and how they are tried.

use std::time::Duration;

use super::*;
use crate::installation::trust::{TrustNew, TrustUpdate};

fn trust(text: &str) -> TrustSettings {
    parse(&format!("[trust]\n{text}\n")).unwrap().trust
}

fn shadow(text: &str) -> Option<ShadowSettings> {
    parse(&format!("[contributors.a]\n{text}\n")).unwrap().contributors["a"].shadow
}

#[test]
fn every_word_of_trust_has_its_meaning() {
    let settings = |new, update| TrustSettings { new, update };
    assert_eq!(trust(""), settings(TrustNew::Live, TrustUpdate::SameDeclaration));
    assert_eq!(trust("new = \"live\""), TrustSettings::default());
    assert_eq!(trust("new = \"pending\""), settings(TrustNew::Pending, TrustUpdate::SameDeclaration));
    assert_eq!(trust("update = \"same-declaration\""), TrustSettings::default());
    assert_eq!(trust("update = \"pinned\""), settings(TrustNew::Live, TrustUpdate::Pinned));
}

#[test]
fn a_trial_is_wanted_where_there_is_a_section_and_may_be_short_or_long() {
    assert_eq!(shadow(""), None);
    let default = ShadowSettings { calls: 100, time: Duration::from_secs(60), on_difference: OnDifference::Wait };
    assert_eq!(shadow("shadow = {}"), Some(default));
    assert_eq!(shadow("[contributors.a.shadow]"), Some(default));
    for (word, on_difference) in
        [("wait", OnDifference::Wait), ("promote", OnDifference::Promote), ("refuse", OnDifference::Refuse)]
    {
        let read = shadow(&format!("shadow = {{ on-difference = \"{word}\" }}"));
        assert_eq!(read, Some(ShadowSettings { on_difference, ..default }));
    }
    let shortest = shadow(r#"shadow = { calls = 1, time = "1s" }"#);
    assert_eq!(shortest, Some(ShadowSettings { calls: 1, time: Duration::from_secs(1), ..default }));
    let longest = shadow(r#"shadow = { calls = 100_000, time = "24h" }"#);
    let day = Duration::from_secs(24 * 60 * 60);
    assert_eq!(longest, Some(ShadowSettings { calls: 100_000, time: day, ..default }));
}

#[test]
fn what_cannot_be_meant_is_told_with_its_place() {
    insta::assert_snapshot!(told(&[
        "trust = \"pinned\"\n",
        "[trus]\n",
        "[trust]\nnews = \"live\"\n",
        "[trust]\nupdates = \"pinned\"\n",
        "[trust]\nnew = \"pinned\"\n",
        "[trust]\nnew = true\n",
        "[trust]\n\nupdate = \"pending\"\n",
        "[trust]\nupdate = \"Pinned\"\n",
        "[contributors.a]\nshadow = true\n",
        "[contributors.a]\nshadows = {}\n",
        "[contributors.a.shadow]\ncall = 1\n",
        "[contributors.a.shadow]\ncalls = 0\n",
        "[contributors.a.shadow]\ncalls = 100_001\n",
        "[contributors.a.shadow]\ncalls = \"1\"\n",
        "[contributors.a.shadow]\ntime = \"999ms\"\n",
        "[contributors.a.shadow]\ntime = \"25h\"\n",
        "[contributors.a.shadow]\ntime = 60\n",
        "[contributors.a.shadow]\non-diference = \"wait\"\n",
        "[contributors.a.shadow]\non-difference = \"pending\"\n",
    ]), @r#"
    /h/dsh-env.toml:1:9: "trust" is a string: expected a table, such as trust = { … }, or its own section [trust]
    /h/dsh-env.toml:1:2: unknown setting "trus": did you mean "trust"?
    /h/dsh-env.toml:2:1: unknown setting "news" in [trust]: did you mean "new"?
    /h/dsh-env.toml:2:1: unknown setting "updates" in [trust]: did you mean "update"?
    /h/dsh-env.toml:2:7: "new" in [trust] is "pinned": expected "live" or "pending", such as new = "live"
    /h/dsh-env.toml:2:7: "new" in [trust] is a boolean: expected "live" or "pending", such as new = "live"
    /h/dsh-env.toml:3:10: "update" in [trust] is "pending": expected "same-declaration" or "pinned", such as update = "same-declaration"
    /h/dsh-env.toml:2:10: "update" in [trust] is "Pinned": expected "same-declaration" or "pinned", such as update = "same-declaration"
    /h/dsh-env.toml:2:10: "shadow" in [contributors.a] is a boolean: expected a table, such as shadow = { … }, or its own section [contributors.a.shadow]
    /h/dsh-env.toml:2:1: unknown setting "shadows" in [contributors.a]: did you mean "shadow"?
    /h/dsh-env.toml:2:1: unknown setting "call" in [contributors.a.shadow]: did you mean "calls"?
    /h/dsh-env.toml:2:9: "calls" in [contributors.a.shadow] is 0: at least 1 is needed
    /h/dsh-env.toml:2:9: "calls" in [contributors.a.shadow] is 100001: at most 100000 can be allowed
    /h/dsh-env.toml:2:9: "calls" in [contributors.a.shadow] is a string: expected a whole number, such as calls = 100
    /h/dsh-env.toml:2:8: "time" in [contributors.a.shadow] is "999ms": at least 1s is needed
    /h/dsh-env.toml:2:8: "time" in [contributors.a.shadow] is "25h": at most 24h can be allowed
    /h/dsh-env.toml:2:8: "time" in [contributors.a.shadow] is an integer: expected a time in ms, s, m or h, such as time = "1m"
    /h/dsh-env.toml:2:1: unknown setting "on-diference" in [contributors.a.shadow]: did you mean "on-difference"?
    /h/dsh-env.toml:2:17: "on-difference" in [contributors.a.shadow] is "pending": expected "wait", "promote" or "refuse", such as on-difference = "wait"
    "#);
}
