//! The hostile pack: components that each do one thing that a contributor should not, and what is right then.

/// A component, and what has to come of it.
pub(super) struct Hostile {
    pub(super) tries: &'static str,
    pub(super) component: &'static [u8],
    pub(super) right: Right,
}

/// What is right.
pub(super) enum Right {
    /// The one value that the component is there to give, or nothing.
    Value(Option<&'static str>),
    /// One of these codes.
    Codes(&'static [&'static str]),
}

macro_rules! pack {
    ($($file:literal, $tries:literal, $right:expr;)+) => {
        &[$(Hostile {
            tries: $tries,
            component: include_bytes!(concat!("../../../../tests/fixtures/hostile/", $file, ".wasm")),
            right: $right,
        },)+]
    };
}

/// Every component of the pack.
pub(super) const PACK: &[Hostile] = pack! {
    "ok-minimal", "A good contributor", Right::Value(Some("1"));
    "ok-empty-value", "An empty value", Right::Value(Some(""));
    "ok-nothing-to-say", "No value at all", Right::Value(None);
    "ok-no-variables", "No variables", Right::Value(None);
    "ok-tricky-value", "A value full of quotes and escapes", Right::Value(Some("line one\nline two\t$(id) `id` \"q\" 'q' =a=b \\ ü漢🦀 \u{1b}[31m"));
    "ok-counts-its-own-calls", "Remembering what it did in the call before", Right::Value(Some("1"));
    "bad-core-module", "A module without the contract", Right::Codes(&["not-a-component"]);
    "bad-empty-file", "An empty file", Right::Codes(&["not-a-component"]);
    "bad-truncated", "Half a file", Right::Codes(&["malformed"]);
    "bad-missing-resolve", "A missing function", Right::Codes(&["missing-export"]);
    "bad-wrong-type", "A function of another type", Right::Codes(&["wrong-type"]);
    "bad-imports-vault", "An import that no host has", Right::Codes(&["forbidden-import"]);
    "bad-start-spins", "Spinning before it is asked", Right::Codes(&["timeout"]);
    "bad-declare-spins", "Spinning while it declares", Right::Codes(&["timeout"]);
    "bad-blank-name", "A blank name", Right::Codes(&["invalid-name"]);
    "bad-key-lowercase", "A key in lower case", Right::Codes(&["invalid-key"]);
    "bad-key-bare-prefix", "A key that is nothing but the prefix", Right::Codes(&["invalid-key"]);
    "bad-key-digit-first", "A key that begins with a digit", Right::Codes(&["invalid-key"]);
    "bad-key-equals", "A key with an equals sign", Right::Codes(&["invalid-key"]);
    "bad-reserved-key", "One of the host's own keys", Right::Codes(&["reserved-key"]);
    "bad-blank-description", "A blank description", Right::Codes(&["missing-description"]);
    "bad-description-2k", "A description of two kibibytes", Right::Codes(&["invalid-description"]);
    "bad-name-uppercase", "A name in upper case", Right::Codes(&["invalid-name"]);
    "bad-key-twice", "One key declared twice", Right::Codes(&["duplicate-key"]);
    "bad-undeclared-key", "A key that it never declared", Right::Codes(&["undeclared-key"]);
    "bad-repeated-key", "One key answered twice", Right::Codes(&["repeated-key"]);
    "bad-nul-in-value", "A NUL in a value", Right::Codes(&["invalid-value"]);
    "bad-value-1mib", "A value of a mebibyte", Right::Codes(&["value-too-large", "output-limit"]);
    "bad-resolve-spins", "Spinning while it resolves", Right::Codes(&["timeout"]);
    "bad-resolve-traps", "Crashing", Right::Codes(&["trap"]);
    "bad-infinite-recursion", "Recursion without end", Right::Codes(&["stack-limit"]);
    "bad-memory-bomb", "Memory without end", Right::Codes(&["memory-limit"]);
    "bad-value-invalid-utf8", "A value that is not UTF-8", Right::Codes(&["invalid-output"]);
    "bad-list-length-overflow", "A list longer than its memory", Right::Codes(&["invalid-output"]);
    "bad-20000-bindings", "Twenty thousand values", Right::Codes(&["too-many-values", "output-limit"]);
    "bad-guest-error", "Failing with words of its own", Right::Codes(&["guest-error"]);
};

/// The guest that does what it is told, for what only components with imports can try.
pub(super) const PROBE: &[u8] = include_bytes!("../../../../tests/fixtures/guests/probe/probe.wasm");

/// Something that the probe is told to do.
pub(super) struct Attempt {
    pub(super) tries: &'static str,
    pub(super) operation: &'static str,
    pub(super) right: Held,
}

/// How an attempt has to be held.
pub(super) enum Held {
    /// By the limits of the call.
    Ended,
    /// By an error that the guest gets.
    Denied,
    /// By an answer that says nothing of the host: this one.
    Answered(&'static str),
    /// By the same answer every time.
    Constant,
}

/// What the probe tries. A workspace is granted to it, with links out of it, a FIFO and a sparse file.
pub(super) const ATTEMPTS: &[Attempt] = &[
    // Or all that follows would prove nothing.
    Attempt {
        tries: "Reading what it is granted",
        operation: "read /workspace/file",
        right: Held::Answered("\"inside\""),
    },
    Attempt { tries: "Sleeping for a minute", operation: "sleep 60000", right: Held::Ended },
    Attempt { tries: "Waiting for what never comes", operation: "poll-forever", right: Held::Ended },
    Attempt { tries: "Spinning between imports", operation: "spin", right: Held::Ended },
    Attempt { tries: "Printing without end", operation: "flood-forever", right: Held::Ended },
    Attempt { tries: "Reading a FIFO", operation: "read /workspace/fifo", right: Held::Denied },
    Attempt { tries: "Reading a device", operation: "read /workspace/device", right: Held::Denied },
    Attempt { tries: "Following a link out", operation: "read /workspace/relative", right: Held::Denied },
    Attempt { tries: "Following an absolute link", operation: "read /workspace/absolute", right: Held::Denied },
    Attempt { tries: "Following a link into procfs", operation: "read /workspace/environ", right: Held::Denied },
    Attempt { tries: "Going up by two dots", operation: "read /workspace/../secret", right: Held::Denied },
    Attempt { tries: "Reading outside", operation: "read /etc/passwd", right: Held::Denied },
    Attempt { tries: "Writing a file", operation: "write /workspace/new x", right: Held::Denied },
    Attempt { tries: "Removing a file", operation: "remove /workspace/file", right: Held::Denied },
    Attempt { tries: "Making a link", operation: "symlink / /workspace/new", right: Held::Denied },
    Attempt { tries: "Looking at variables", operation: "variables", right: Held::Answered("[]") },
    Attempt { tries: "Looking at arguments", operation: "arguments", right: Held::Answered("[]") },
    Attempt { tries: "Looking at settings", operation: "config-all", right: Held::Answered("[]") },
    Attempt { tries: "Telling the time", operation: "wall-clock", right: Held::Constant },
    Attempt { tries: "Drawing random numbers", operation: "random 16", right: Held::Constant },
    Attempt { tries: "Connecting to this machine", operation: "tcp 127.0.0.1 80", right: Held::Denied },
    Attempt { tries: "Resolving a name", operation: "dns localhost", right: Held::Denied },
    Attempt { tries: "Exiting", operation: "exit 0", right: Held::Ended },
];
