//! The imports that this host offers: the interfaces of WASI 0.2 that ordinary toolchains emit, and
//! the settings. Each is a world without authority until a grant opens it; all else is refused by name.

/// What an import that the host offers allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Offer {
    /// What it allows, in words.
    pub(super) allows: &'static str,
    /// The grant that opens it, if there is one.
    pub(super) grant: Option<&'static str>,
    /// What it is about, in a word or two; none where nobody need think of it.
    pub(super) about: Option<&'static str>,
}

/// The minor version of WASI that is offered: every patch of it, since they only add.
const WASI: &str = "0.2.";

/// The one version of the settings' interface.
const CONFIG_STORE: &str = "wasi:config/store@0.2.0-rc.1";

const NETWORK: Offer =
    Offer { allows: "network: imported, always denied", grant: None, about: Some("network (always denied)") };
const ENVIRONMENT: Offer = Offer {
    allows: "no arguments; the variables that `env` grants, else none",
    grant: Some("env"),
    about: Some("variables"),
};
const FILES: Offer = Offer {
    allows: "reading the directory that `workspace` grants, else no files",
    grant: Some("workspace"),
    about: Some("files"),
};
const CLOCK: Offer = Offer {
    allows: "the real time if `clock` is granted, else always the epoch",
    grant: Some("clock"),
    about: Some("clock"),
};
const RANDOM: Offer = Offer {
    allows: "real randomness if `random` is granted, else the same numbers in every call",
    grant: Some("random"),
    about: Some("random"),
};
const SETTINGS: Offer = Offer {
    allows: "its settings if `config` is granted, the facts that `facts` grants, else none",
    grant: Some("config"),
    about: Some("settings"),
};
const OUTPUT: Offer = Offer { allows: "lines in the contributor's log", grant: None, about: Some("log") };
const INPUT: Offer = Offer { allows: "nothing to read", grant: None, about: None };
const EXIT: Offer = Offer { allows: "ending its own call, as a failure", grant: None, about: None };
const STREAMS: Offer =
    Offer { allows: "nothing by itself: waiting for and copying what other imports give", grant: None, about: None };
const TERMINAL: Offer = Offer { allows: "being told that there is no terminal", grant: None, about: None };

/// What an import allows, if this host offers it.
pub(super) fn offer(import: &str) -> Option<Offer> {
    if import == CONFIG_STORE {
        return Some(SETTINGS);
    }
    let (interface, version) = import.strip_prefix("wasi:")?.split_once('@')?;
    let patch = version.strip_prefix(WASI)?;
    if patch.is_empty() || !patch.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Some(match interface {
        "cli/environment" => ENVIRONMENT,
        "cli/exit" => EXIT,
        "cli/stdin" => INPUT,
        "cli/stdout" | "cli/stderr" => OUTPUT,
        "cli/terminal-input"
        | "cli/terminal-output"
        | "cli/terminal-stdin"
        | "cli/terminal-stdout"
        | "cli/terminal-stderr" => TERMINAL,
        "io/error" | "io/poll" | "io/streams" => STREAMS,
        "clocks/wall-clock" | "clocks/monotonic-clock" => CLOCK,
        "random/random" | "random/insecure" | "random/insecure-seed" => RANDOM,
        "filesystem/types" | "filesystem/preopens" => FILES,
        "sockets/network"
        | "sockets/instance-network"
        | "sockets/ip-name-lookup"
        | "sockets/tcp"
        | "sockets/tcp-create-socket"
        | "sockets/udp"
        | "sockets/udp-create-socket"
        | "http/types"
        | "http/outgoing-handler" => NETWORK,
        _ => return None,
    })
}
