//! The settings of this version: their names, types and bounds.

use std::collections::BTreeMap;

use super::reader::{Section, Setting};
use super::{
    CacheSettings, Configuration, ContributorSettings, SessionsSettings, grants, harness, policies, server, telemetry,
    trust,
};
use crate::contract::{ContributorName, Key, MAX_VARIABLES};
use crate::error::Result;
use crate::registry::{KeyTerms, OnFailure, Shape, Terms, ValueLimits};
use crate::sandbox::Limits;
use crate::sessions::{Backend, Compression};
use crate::text::{is_blank, shown};

/// The least memory that a component can do anything with: one page of WebAssembly.
const LEAST_MEMORY: usize = 64 * 1024;

/// The most that a value may be allowed to have: an overlay as a whole has no more.
const MOST_VALUE: usize = 128 * 1024;

/// The least compiled code that may be kept: that of one interpreter.
const LEAST_CACHE: usize = 16 * 1024 * 1024;

/// The most compiled code that may be kept, so that a slip of the pen is told.
const MOST_CACHE: usize = 1024 * 1024 * 1024 * 1024;

/// Tables that the documentation names and that later versions have.
const LATER: [&str; 1] = ["compile"];

/// What bounds a contributor: what its calls may use, and what its answers may be.
#[derive(Clone, Copy, Default)]
struct Bounds {
    limits: Limits,
    values: ValueLimits,
}

/// Reads the whole of a configuration but for where it came from.
pub(super) fn configuration(top: &mut Section<'_>) -> Result<Configuration> {
    for name in LATER {
        top.lacks(name, "remove it")?;
    }
    let general = top.section("limits", |section| bounds(section, Bounds::default()))?.unwrap_or_default();
    let contributors = top.section("contributors", |section| contributors(section, general))?.unwrap_or_default();
    let sessions = top.section("sessions", sessions)?.unwrap_or_default();
    let cache = top.section("cache", cache)?.unwrap_or_default();
    let tools = top.section("tools", harness::tools)?.unwrap_or_default();
    let hooks = top.section("hooks", harness::hooks)?.unwrap_or_default();
    let skills = top.section("skills", harness::skills)?.unwrap_or_default();
    let trust = top.section("trust", trust::trust)?.unwrap_or_default();
    let facts = top.section("facts", server::facts)?.unwrap_or_default();
    let server = top.section("server", server::server)?.unwrap_or_default();
    let telemetry = top.section("telemetry", telemetry::telemetry)?.unwrap_or_default();
    let Bounds { limits, values } = general;
    Ok(Configuration {
        limits,
        values,
        contributors,
        sessions,
        cache,
        tools,
        hooks,
        skills,
        trust,
        facts,
        server,
        telemetry,
        ..Default::default()
    })
}

/// What a section of limits says, and `base` where it says nothing.
fn bounds(section: &mut Section<'_>, base: Bounds) -> Result<Bounds> {
    let Bounds { limits, values } = base;
    let most = Limits::CEILING;
    Ok(Bounds {
        limits: Limits {
            cpu: section.time("cpu", limits.cpu, most.cpu)?,
            wall: section.time("wall", limits.wall, most.wall)?,
            memory: section.size("memory", limits.memory, LEAST_MEMORY, most.memory)?,
            table_elements: section.count("table-elements", limits.table_elements, most.table_elements)?,
            instances: section.count("instances", limits.instances, most.instances)?,
            output: section.size("output", limits.output, 1, most.output)?,
            log: section.size("log", limits.log, 1, most.log)?,
        },
        values: ValueLimits {
            count: section.count("variables", values.count, MAX_VARIABLES)?,
            bytes: section.size("value", values.bytes, 1, MOST_VALUE)?,
        },
    })
}

fn contributors(section: &mut Section<'_>, general: Bounds) -> Result<BTreeMap<ContributorName, ContributorSettings>> {
    let mut contributors = BTreeMap::new();
    section.each_section(|setting, section| {
        let name = ContributorName::new(setting.name()).map_err(|error| setting.error(error.message()))?;
        contributors.insert(name, contributor(section, setting.line(), general)?);
        Ok(())
    })?;
    Ok(contributors)
}

fn contributor(section: &mut Section<'_>, line: usize, general: Bounds) -> Result<ContributorSettings> {
    let settings = section.section("settings", grants::settings)?.unwrap_or_default();
    let grants = section.section("grants", |section| grants::of_section(section, &settings))?.unwrap_or_default();
    let Bounds { limits, values } = section.section("limits", |section| bounds(section, general))?.unwrap_or(general);
    Ok(ContributorSettings {
        enabled: section.flag("enabled", true)?,
        required: section.flag("required", false)?,
        limits,
        terms: Terms {
            on_failure: section
                .setting("on-failure")
                .map_or(Ok(OnFailure::Fail), |setting| policies::of_contributor(&setting))?,
            show_guest_text: section.flag("show-guest-text", false)?,
            keys: section.section("keys", |section| keys(section, values))?.unwrap_or_default(),
            values,
        },
        grants,
        settings,
        shadow: section.section("shadow", trust::shadow)?,
        line,
    })
}

fn keys(section: &mut Section<'_>, values: ValueLimits) -> Result<BTreeMap<Key, KeyTerms>> {
    let mut keys = BTreeMap::new();
    section.each_section(|setting, section| {
        let key = Key::new(setting.name()).map_err(|error| setting.error(error.message()))?;
        if key.is_reserved() {
            return Err(setting.error(format!("{key} belongs to the host, so no contributor returns it: remove it")));
        }
        let shape = section.setting("match").map(|setting| shape(&setting)).transpose()?;
        let on_failure = section.setting("on-failure").map(|setting| policies::of_key(&setting, values)).transpose()?;
        keys.insert(key, KeyTerms { shape, on_failure });
        Ok(())
    })?;
    Ok(keys)
}

fn shape(setting: &Setting<'_>) -> Result<Shape> {
    let expression = setting.text("a regular expression", r"'^[\w./-]{1,255}$'")?;
    Shape::new(expression)
        .map_err(|error| setting.wrong(format!("is not a regular expression: {}", shown(&error.to_string()))))
}

fn cache(section: &mut Section<'_>) -> Result<CacheSettings> {
    let default = usize::try_from(CacheSettings::default().size).unwrap_or(MOST_CACHE);
    Ok(CacheSettings { size: section.size("size", default, LEAST_CACHE, MOST_CACHE)? as u64 })
}

fn sessions(section: &mut Section<'_>) -> Result<SessionsSettings> {
    Ok(SessionsSettings {
        root: section.setting("root").map(|setting| root(&setting)).transpose()?,
        backend: section.choice("backend", Backend::ALL, Backend::as_str)?,
        compression: section.choice("compression", Compression::ALL, Compression::as_str)?,
    })
}

fn root(setting: &Setting<'_>) -> Result<String> {
    let root = setting.text("a folder", r#""~/sessions""#)?;
    if is_blank(root) || root.contains('\0') {
        return Err(setting.wrong("names no folder: name one, or leave it out"));
    }
    Ok(root.to_owned())
}
