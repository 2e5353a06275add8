//! The settings of a host that goes on: its server, and the facts that it finds out.

use std::collections::BTreeMap;
use std::time::Duration;

use super::reader::{Section, Setting};
use super::units::DAY;
use crate::error::Result;
use crate::facts::{self, FactSettings};

/// How the home is watched, and what clients may ask for at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerSettings {
    /// How changes of the home's files are noticed.
    pub watch: Watch,
    /// From one look to the next, where the files are looked at.
    pub poll_every: Duration,
    /// The most connections at once.
    pub connections: usize,
    /// The most requests of one connection that are under way.
    pub requests: usize,
    /// How long what is under way may go on when the server is to end.
    pub grace: Duration,
}

impl Default for ServerSettings {
    fn default() -> Self {
        Self {
            watch: Watch::default(),
            poll_every: Duration::from_secs(2),
            connections: 256,
            requests: 64,
            grace: Duration::from_secs(10),
        }
    }
}

impl ServerSettings {
    /// Looking more often than this is nothing but work.
    const LEAST_POLL: Duration = Duration::from_millis(50);

    /// Whoever looks less often may as well not look.
    const MOST_POLL: Duration = Duration::from_secs(60 * 60);

    /// Each needs a few descriptors, of which a process has not many more.
    const MOST_CONNECTIONS: usize = 4096;

    const MOST_REQUESTS: usize = 4096;

    /// Longer than any collection, and shorter than what starts and ends services waits.
    const MOST_GRACE: Duration = Duration::from_secs(5 * 60);
}

/// How changes of files are noticed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Watch {
    /// The system tells of them, where it can, else they are looked for.
    #[default]
    Auto,
    /// They are looked for every so often, as on file systems that tell nothing.
    Poll,
    /// Only when somebody asks for it.
    Off,
}

impl Watch {
    const ALL: &[Self] = &[Self::Auto, Self::Poll, Self::Off];

    /// The word for it in the configuration.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Poll => "poll",
            Self::Off => "off",
        }
    }
}

pub(super) fn server(section: &mut Section<'_>) -> Result<ServerSettings> {
    let default = ServerSettings::default();
    let (least_poll, most_poll) = (ServerSettings::LEAST_POLL, ServerSettings::MOST_POLL);
    Ok(ServerSettings {
        watch: section.choice("watch", Watch::ALL, Watch::as_str)?,
        poll_every: section.time_within("poll-every", default.poll_every, least_poll, most_poll)?,
        connections: section.count("connections", default.connections, ServerSettings::MOST_CONNECTIONS)?,
        requests: section.count("requests", default.requests, ServerSettings::MOST_REQUESTS)?,
        grace: section.time("grace", default.grace, ServerSettings::MOST_GRACE)?,
    })
}

/// The least from one run of a command to the next, and the shortest that a value may hold.
const LEAST_EVERY: Duration = Duration::from_secs(1);

/// The longest that a run may take.
const MOST_TIMEOUT: Duration = Duration::from_secs(5 * 60);

pub(super) fn facts(section: &mut Section<'_>) -> Result<BTreeMap<String, FactSettings>> {
    let mut facts = BTreeMap::new();
    section.each_section(|setting, section| {
        let name = setting.name();
        facts::check_name(name).map_err(|error| setting.error(error.message()))?;
        facts.insert(name.to_owned(), fact(setting, section)?);
        Ok(())
    })?;
    Ok(facts)
}

fn fact(setting: &Setting<'_>, section: &mut Section<'_>) -> Result<FactSettings> {
    let lacks = |what: &str| setting.wrong(format!("lacks {what}"));
    let command = section.setting("command").map(|setting| command(&setting)).transpose()?;
    let every = section.setting("every");
    let every = every.map(|setting| setting.time(Duration::from_secs(30), LEAST_EVERY, DAY)).transpose()?;
    let timeout = section.time("timeout", FactSettings::TIMEOUT, MOST_TIMEOUT)?;
    let time_to_live = section.setting("ttl");
    let example = Duration::from_secs(90);
    // Three days, so that what is found out once a day can be gone without for two.
    let time_to_live = time_to_live.map(|setting| setting.time(example, LEAST_EVERY, 3 * DAY)).transpose()?;
    let size = section.size("size", FactSettings::SIZE, 1, facts::MAX_VALUE_BYTES)?;
    section.nothing_else()?;
    let command = command.ok_or_else(|| lacks(r#"its command: add command = ["…"]"#))?;
    let every = every.ok_or_else(|| lacks(r#"how often it is found out: add every = "30s""#))?;
    let time_to_live = time_to_live.unwrap_or_else(|| FactSettings::time_to_live(every, timeout));
    Ok(FactSettings { command, every, timeout, time_to_live, size })
}

fn command(setting: &Setting<'_>) -> Result<Vec<String>> {
    const EXPECTED: &str = "a list of a program and its arguments";
    const EXAMPLE: &str = r#"["kubectl", "config", "current-context"]"#;
    let mut words = Vec::new();
    for (element, word) in setting.texts(EXPECTED, EXAMPLE)? {
        if word.contains('\0') {
            return Err(element.wrong("has a NUL character, which no argument can have: leave it out"));
        }
        words.push(word.to_owned());
    }
    match words.first() {
        None => Err(setting.expected("empty", EXPECTED, EXAMPLE)),
        Some(program) if program.is_empty() => Err(setting.wrong("names no program: name one")),
        Some(_) => Ok(words),
    }
}
