//! The settings of what uses the managed environment: tools, hooks, skills.

use std::path::PathBuf;

use super::reader::{Section, Setting};
use crate::environment::Shell;
use crate::error::Result;
use crate::text::{is_blank, shown};

/// Which tools a model is offered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolsSettings {
    /// The shells; where it is not said, those that are installed.
    pub shells: Option<Vec<Shell>>,
}

/// Which hooks are run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HooksSettings {
    /// Files of hooks as Claude Code reads them, as they were written: `~` is not expanded, and what is
    /// relative is meant below the home.
    pub claude_code: Vec<PathBuf>,
    /// Files of hooks as Codex reads them, likewise.
    pub codex: Vec<PathBuf>,
    /// Whether a hook that blocks need not say why. The real Codex lets what is blocked without a reason pass.
    pub block_without_reason: bool,
}

impl Default for HooksSettings {
    fn default() -> Self {
        Self { claude_code: Vec::new(), codex: Vec::new(), block_without_reason: true }
    }
}

/// Where skills are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SkillsSettings {
    /// The home that their folder is in, if it is named here too; it has to be that of the host.
    pub home: Option<String>,
}

pub(super) fn tools(section: &mut Section<'_>) -> Result<ToolsSettings> {
    let shells = section.setting("shells").map(|setting| shells(&setting)).transpose()?;
    Ok(ToolsSettings { shells })
}

fn shells(setting: &Setting<'_>) -> Result<Vec<Shell>> {
    const EXPECTED: &str = r#"a list of "bash" and "pwsh""#;
    const EXAMPLE: &str = r#"["bash"]"#;
    let mut shells = Vec::new();
    for (element, name) in setting.texts(EXPECTED, EXAMPLE)? {
        let known = Shell::ALL.iter().find(|shell| shell.name() == name);
        let shell = known.ok_or_else(|| element.expected(&format!("\"{}\"", shown(name)), EXPECTED, EXAMPLE))?;
        if !shells.contains(shell) {
            shells.push(*shell);
        }
    }
    Ok(shells)
}

pub(super) fn hooks(section: &mut Section<'_>) -> Result<HooksSettings> {
    Ok(HooksSettings {
        claude_code: files(section, "claude-code")?,
        codex: files(section, "codex")?,
        block_without_reason: section.flag("block-without-reason", HooksSettings::default().block_without_reason)?,
    })
}

fn files(section: &mut Section<'_>, name: &'static str) -> Result<Vec<PathBuf>> {
    let Some(setting) = section.setting(name) else { return Ok(Vec::new()) };
    let mut files = Vec::new();
    for (element, file) in setting.texts("a list of files", r#"["~/.claude/settings.json"]"#)? {
        if is_blank(file) || file.contains('\0') {
            return Err(element.wrong("names no file: name one, or remove it"));
        }
        files.push(PathBuf::from(file));
    }
    Ok(files)
}

pub(super) fn skills(section: &mut Section<'_>) -> Result<SkillsSettings> {
    let home = section.setting("home").map(|setting| setting.text("a folder", r#""~/.dsh""#)).transpose()?;
    Ok(SkillsSettings { home: home.map(str::to_owned) })
}
