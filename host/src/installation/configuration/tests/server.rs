//! A host that goes on: how it watches, and what it grants its clients.

use std::time::Duration;

use super::*;

fn server(text: &str) -> ServerSettings {
    parse(&format!("[server]\n{text}\n")).unwrap().server
}

#[test]
fn every_setting_of_the_server_has_its_effect() {
    let text = include_str!("../../../../../tests/fixtures/configuration/complete.toml");
    let expected = ServerSettings {
        watch: Watch::Poll,
        poll_every: Duration::from_millis(500),
        connections: 16,
        requests: 8,
        grace: Duration::from_secs(30),
    };
    assert_eq!(parse(text).unwrap().server, expected);
    for (word, watch) in [("auto", Watch::Auto), ("poll", Watch::Poll), ("off", Watch::Off)] {
        assert_eq!(server(&format!("watch = \"{word}\"")), ServerSettings { watch, ..ServerSettings::default() });
    }
}

#[test]
fn the_defaults_are_those_that_are_documented() {
    let expected = ServerSettings {
        watch: Watch::Auto,
        poll_every: Duration::from_secs(2),
        connections: 256,
        requests: 64,
        grace: Duration::from_secs(10),
    };
    assert_eq!(server(""), expected);
}

#[test]
fn a_server_may_have_as_little_and_as_much_as_this() {
    let least = server("poll-every = \"50ms\"\nconnections = 1\nrequests = 1\ngrace = \"1ms\"");
    assert_eq!((least.poll_every, least.grace), (Duration::from_millis(50), Duration::from_millis(1)));
    assert_eq!((least.connections, least.requests), (1, 1));
    let most = server("poll-every = \"1h\"\nconnections = 4096\nrequests = 4096\ngrace = \"5m\"");
    assert_eq!((most.poll_every, most.grace), (Duration::from_secs(3600), Duration::from_secs(300)));
    assert_eq!((most.connections, most.requests), (4096, 4096));
}

#[test]
fn what_cannot_be_meant_is_told_with_its_place() {
    insta::assert_snapshot!(told(&[
        "server = true\n",
        "[servers]\n",
        "[server]\nwatching = \"poll\"\n",
        "[server]\npoll_every = \"1s\"\n",
        "[server]\nport = 80\n",
        "[server]\nwatch = \"inotify\"\n",
        "[server]\nwatch = false\n",
        "[server]\npoll-every = \"49ms\"\n",
        "[server]\npoll-every = \"61m\"\n",
        "[server]\npoll-every = 2\n",
        "[server]\nconnections = 0\n",
        "[server]\nconnections = 4097\n",
        "[server]\nconnections = \"many\"\n",
        "[server]\nrequests = -1\n",
        "[server]\nrequests = 4097\n",
        "[server]\ngrace = \"0s\"\n",
        "[server]\ngrace = \"6m\"\n",
    ]), @r#"
    /h/dsh-env.toml:1:10: "server" is a boolean: expected a table, such as server = { … }, or its own section [server]
    /h/dsh-env.toml:1:2: unknown setting "servers": did you mean "server"?
    /h/dsh-env.toml:2:1: unknown setting "watching" in [server]: there are watch, poll-every, connections, requests, grace
    /h/dsh-env.toml:2:1: unknown setting "poll_every" in [server]: did you mean "poll-every"?
    /h/dsh-env.toml:2:1: unknown setting "port" in [server]: there are watch, poll-every, connections, requests, grace
    /h/dsh-env.toml:2:9: "watch" in [server] is "inotify": expected "auto", "poll" or "off", such as watch = "auto"
    /h/dsh-env.toml:2:9: "watch" in [server] is a boolean: expected "auto", "poll" or "off", such as watch = "auto"
    /h/dsh-env.toml:2:14: "poll-every" in [server] is "49ms": at least 50ms is needed
    /h/dsh-env.toml:2:14: "poll-every" in [server] is "61m": at most 1h can be allowed
    /h/dsh-env.toml:2:14: "poll-every" in [server] is an integer: expected a time in ms, s, m or h, such as poll-every = "2s"
    /h/dsh-env.toml:2:15: "connections" in [server] is 0: at least 1 is needed
    /h/dsh-env.toml:2:15: "connections" in [server] is 4097: at most 4096 can be allowed
    /h/dsh-env.toml:2:15: "connections" in [server] is a string: expected a whole number, such as connections = 256
    /h/dsh-env.toml:2:12: "requests" in [server] is -1: at least 1 is needed
    /h/dsh-env.toml:2:12: "requests" in [server] is 4097: at most 4096 can be allowed
    /h/dsh-env.toml:2:9: "grace" in [server] is "0s": at least 1ms is needed
    /h/dsh-env.toml:2:9: "grace" in [server] is "6m": at most 5m can be allowed
    "#);
}
