//! The settings of what a host tells of itself: metrics, traces, its log.

use std::fmt;
use std::net::SocketAddr;

use super::reader::{Section, Setting};
use crate::error::Result;
use crate::text::{is_blank, shown_within};

/// The most bytes of the name under which traces are kept.
const MAX_SERVICE_NAME_BYTES: usize = 255;

/// Where metrics and traces go, and what is logged. `Debug` shows no URL: there may be a password in it.
#[derive(Clone, PartialEq, Eq)]
pub struct TelemetrySettings {
    /// The address that serves metrics to Prometheus; nowhere unless it is said.
    pub prometheus: Option<SocketAddr>,
    /// The URL that traces are sent to by OTLP over HTTP; nowhere unless it is said.
    pub traces: Option<String>,
    /// The name of this host in traces.
    pub service_name: String,
    /// What is logged, as directives such as `info` or `warn,dsh_env=debug`, where the environment does not say.
    pub log: Option<String>,
}

impl Default for TelemetrySettings {
    fn default() -> Self {
        Self { prometheus: None, traces: None, service_name: "dsh-env".to_owned(), log: None }
    }
}

impl fmt::Debug for TelemetrySettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { prometheus, traces, service_name, log } = self;
        f.debug_struct("TelemetrySettings")
            .field("prometheus", prometheus)
            .field("traces", &traces.as_ref().map(|_| "somewhere"))
            .field("service_name", service_name)
            .field("log", log)
            .finish()
    }
}

pub(super) fn telemetry(section: &mut Section<'_>) -> Result<TelemetrySettings> {
    let default = TelemetrySettings::default();
    let service_name = section.setting("service-name").map(|setting| service_name(&setting)).transpose()?;
    Ok(TelemetrySettings {
        prometheus: section.setting("prometheus").map(|setting| address(&setting)).transpose()?,
        traces: section.setting("traces").map(|setting| url(&setting)).transpose()?,
        service_name: service_name.unwrap_or(default.service_name),
        log: section.setting("log").map(|setting| directives(&setting)).transpose()?,
    })
}

fn address(setting: &Setting<'_>) -> Result<SocketAddr> {
    const EXPECTED: &str = "an IP address and a port";
    const EXAMPLE: &str = r#""127.0.0.1:9464""#;
    let text = setting.text(EXPECTED, EXAMPLE)?;
    text.parse().map_err(|_| setting.expected(&format!("\"{}\"", shown_within(text, 128)), EXPECTED, EXAMPLE))
}

/// No message repeats a URL: there may be a password in it.
fn url(setting: &Setting<'_>) -> Result<String> {
    const EXPECTED: &str = "an http or https URL";
    const EXAMPLE: &str = r#""http://127.0.0.1:4318/v1/traces""#;
    let text = setting.text(EXPECTED, EXAMPLE)?;
    let url: Option<http::Uri> = text.parse().ok();
    let whole = url.is_some_and(|url| {
        matches!(url.scheme_str(), Some("http" | "https")) && url.host().is_some_and(|host| !host.is_empty())
    });
    if whole { Ok(text.to_owned()) } else { Err(setting.expected("no such thing", EXPECTED, EXAMPLE)) }
}

fn service_name(setting: &Setting<'_>) -> Result<String> {
    let name = setting.text("a name", r#""dsh-env""#)?;
    if is_blank(name) {
        return Err(setting.wrong("is no name: give one, or leave it out"));
    }
    if name.len() > MAX_SERVICE_NAME_BYTES || name.contains(char::is_control) {
        return Err(setting.wrong(format!(
            "is no name of at most {MAX_SERVICE_NAME_BYTES} bytes without control characters: give another"
        )));
    }
    Ok(name.to_owned())
}

fn directives(setting: &Setting<'_>) -> Result<String> {
    const EXPECTED: &str = "directives of a log filter";
    const EXAMPLE: &str = r#""warn,dsh_env=debug""#;
    let text = setting.text(EXPECTED, EXAMPLE)?;
    let wrong = |found: &str| setting.expected(found, EXPECTED, EXAMPLE);
    if is_blank(text) {
        return Err(wrong("blank"));
    }
    // Who has no log does not know its language either.
    #[cfg(feature = "cli")]
    tracing_subscriber::EnvFilter::builder()
        .parse(text)
        .map_err(|error| wrong(&format!("none ({})", shown_within(&error.to_string(), 256))))?;
    Ok(text.to_owned())
}
