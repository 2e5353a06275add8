//! What a host tells of itself.

use super::*;

fn telemetry(text: &str) -> TelemetrySettings {
    parse(&format!("[telemetry]\n{text}\n")).unwrap().telemetry
}

#[test]
fn every_setting_of_telemetry_has_its_effect() {
    let text = include_str!("../../../../../tests/fixtures/configuration/complete.toml");
    let expected = TelemetrySettings {
        prometheus: Some("127.0.0.1:9464".parse().unwrap()),
        traces: Some("https://user:hunter2@collector.example:4318/v1/traces".to_owned()),
        service_name: "build-farm".to_owned(),
        log: Some("warn,dsh_env=debug".to_owned()),
    };
    assert_eq!(parse(text).unwrap().telemetry, expected);
}

#[test]
fn nothing_is_told_to_anybody_unless_it_is_said() {
    let TelemetrySettings { prometheus, traces, service_name, log } = telemetry("");
    assert_eq!((prometheus, traces, log), (None, None, None));
    assert_eq!(service_name, "dsh-env");
}

#[test]
fn addresses_urls_names_and_filters_may_be_any_that_are() {
    for address in ["0.0.0.0:1", "127.0.0.1:0", "[::1]:65535"] {
        let read = telemetry(&format!("prometheus = \"{address}\"")).prometheus;
        assert_eq!(read.unwrap().to_string(), address);
    }
    for url in ["http://localhost:4318/v1/traces", "https://collector.example", "http://[::1]:4318/?a=b"] {
        assert_eq!(telemetry(&format!("traces = \"{url}\"")).traces.as_deref(), Some(url));
    }
    for name in ["x", "Häuser am Hang", &"x".repeat(255)] {
        assert_eq!(telemetry(&format!("service-name = \"{name}\"")).service_name, name);
    }
    for log in ["off", "info", "warn,dsh_env=debug", "dsh_env::registry[collect]=trace"] {
        assert_eq!(telemetry(&format!("log = \"{log}\"")).log.as_deref(), Some(log));
    }
}

#[test]
fn what_cannot_be_meant_is_told_with_its_place_and_no_url() {
    let told = told(&[
        "telemetry = true\n",
        "[telemetri]\n",
        "[telemetry]\nmetrics = \"127.0.0.1:9464\"\n",
        "[telemetry]\ntrace = \"http://x\"\n",
        "[telemetry]\nservice_name = \"x\"\n",
        "[telemetry]\nprometheus = true\n",
        "[telemetry]\nprometheus = 9464\n",
        "[telemetry]\nprometheus = \":9464\"\n",
        "[telemetry]\nprometheus = \"localhost:9464\"\n",
        "[telemetry]\nprometheus = \"127.0.0.1\"\n",
        "[telemetry]\nprometheus = \"127.0.0.1:65536\"\n",
        "[telemetry]\ntraces = 4318\n",
        "[telemetry]\ntraces = \"\"\n",
        "[telemetry]\ntraces = \"hunter2\"\n",
        "[telemetry]\ntraces = \"/hunter2\"\n",
        "[telemetry]\ntraces = \"ftp://hunter2/\"\n",
        "[telemetry]\ntraces = \"http://\"\n",
        "[telemetry]\ntraces = \"https:///hunter2\"\n",
        "[telemetry]\ntraces = \"http://a b/hunter2\"\n",
        "[telemetry]\nservice-name = \" \"\n",
        "[telemetry]\nservice-name = \"a\\nb\"\n",
        "[telemetry]\nservice-name = 1\n",
        "[telemetry]\nlog = \"\"\n",
        "[telemetry]\nlog = true\n",
    ]);
    assert!(!told.contains("hunter2"));
    insta::assert_snapshot!(told, @r#"
    /h/dsh-env.toml:1:13: "telemetry" is a boolean: expected a table, such as telemetry = { … }, or its own section [telemetry]
    /h/dsh-env.toml:1:2: unknown setting "telemetri": did you mean "telemetry"?
    /h/dsh-env.toml:2:1: unknown setting "metrics" in [telemetry]: there are service-name, prometheus, traces, log
    /h/dsh-env.toml:2:1: unknown setting "trace" in [telemetry]: did you mean "traces"?
    /h/dsh-env.toml:2:1: unknown setting "service_name" in [telemetry]: did you mean "service-name"?
    /h/dsh-env.toml:2:14: "prometheus" in [telemetry] is a boolean: expected an IP address and a port, such as prometheus = "127.0.0.1:9464"
    /h/dsh-env.toml:2:14: "prometheus" in [telemetry] is an integer: expected an IP address and a port, such as prometheus = "127.0.0.1:9464"
    /h/dsh-env.toml:2:14: "prometheus" in [telemetry] is ":9464": expected an IP address and a port, such as prometheus = "127.0.0.1:9464"
    /h/dsh-env.toml:2:14: "prometheus" in [telemetry] is "localhost:9464": expected an IP address and a port, such as prometheus = "127.0.0.1:9464"
    /h/dsh-env.toml:2:14: "prometheus" in [telemetry] is "127.0.0.1": expected an IP address and a port, such as prometheus = "127.0.0.1:9464"
    /h/dsh-env.toml:2:14: "prometheus" in [telemetry] is "127.0.0.1:65536": expected an IP address and a port, such as prometheus = "127.0.0.1:9464"
    /h/dsh-env.toml:2:10: "traces" in [telemetry] is an integer: expected an http or https URL, such as traces = "http://127.0.0.1:4318/v1/traces"
    /h/dsh-env.toml:2:10: "traces" in [telemetry] is no such thing: expected an http or https URL, such as traces = "http://127.0.0.1:4318/v1/traces"
    /h/dsh-env.toml:2:10: "traces" in [telemetry] is no such thing: expected an http or https URL, such as traces = "http://127.0.0.1:4318/v1/traces"
    /h/dsh-env.toml:2:10: "traces" in [telemetry] is no such thing: expected an http or https URL, such as traces = "http://127.0.0.1:4318/v1/traces"
    /h/dsh-env.toml:2:10: "traces" in [telemetry] is no such thing: expected an http or https URL, such as traces = "http://127.0.0.1:4318/v1/traces"
    /h/dsh-env.toml:2:10: "traces" in [telemetry] is no such thing: expected an http or https URL, such as traces = "http://127.0.0.1:4318/v1/traces"
    /h/dsh-env.toml:2:10: "traces" in [telemetry] is no such thing: expected an http or https URL, such as traces = "http://127.0.0.1:4318/v1/traces"
    /h/dsh-env.toml:2:10: "traces" in [telemetry] is no such thing: expected an http or https URL, such as traces = "http://127.0.0.1:4318/v1/traces"
    /h/dsh-env.toml:2:16: "service-name" in [telemetry] is no name: give one, or leave it out
    /h/dsh-env.toml:2:16: "service-name" in [telemetry] is no name of at most 255 bytes without control characters: give another
    /h/dsh-env.toml:2:16: "service-name" in [telemetry] is an integer: expected a name, such as service-name = "dsh-env"
    /h/dsh-env.toml:2:7: "log" in [telemetry] is blank: expected directives of a log filter, such as log = "warn,dsh_env=debug"
    /h/dsh-env.toml:2:7: "log" in [telemetry] is a boolean: expected directives of a log filter, such as log = "warn,dsh_env=debug"
    "#);
    let long = format!("[telemetry]\nservice-name = \"{}\"\n", "x".repeat(256));
    assert!(parse(&long).unwrap_err().message().ends_with("give another"));
}

#[cfg(feature = "cli")]
#[test]
fn a_filter_is_checked_by_whoever_filters() {
    let error = parse("[telemetry]\nlog = \"dsh_env=loud\"\n").unwrap_err();
    assert!(error.message().starts_with("/h/dsh-env.toml:2:7: \"log\" in [telemetry] is none ("), "{error}");
}

#[test]
fn the_configuration_shows_no_credentials_of_a_url() {
    let text = "[telemetry]\ntraces = \"http://user:hunter2@localhost/\"\n";
    assert!(!format!("{:?}", parse(text).unwrap()).contains("hunter2"));
}
