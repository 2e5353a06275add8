//! Whose format a file of hooks has, and what that product calls things.

use std::fmt;

use serde::Serialize;

/// The product that a user's hooks were configured for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dialect {
    /// Claude Code: `settings.json`, or the `hooks.json` of a plugin.
    ClaudeCode,
    /// OpenAI's Codex: `hooks.json`.
    Codex,
}

/// What the shell tools are called: the model's name, Claude Code's, Codex's.
///
/// Codex has one name for whatever shell its tool runs. Every other tool has one name everywhere.
const TOOL_NAMES: [(&str, &str, &str); 2] = [("bash", "Bash", "Bash"), ("pwsh", "PowerShell", "Bash")];

impl Dialect {
    /// Both.
    pub const ALL: &'static [Self] = &[Self::ClaudeCode, Self::Codex];

    /// The word for it in reports and configuration.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
        }
    }

    /// What hooks of this dialect call a tool that the model knows as `tool`.
    #[must_use]
    pub fn tool_name(self, tool: &str) -> &str {
        let Some((_, claude_code, codex)) = TOOL_NAMES.iter().find(|(model, ..)| *model == tool) else { return tool };
        match self {
            Self::ClaudeCode => claude_code,
            Self::Codex => codex,
        }
    }

    /// The shell that runs a command.
    pub(super) fn shell(self) -> &'static str {
        match self {
            Self::ClaudeCode => "bash",
            Self::Codex => "sh",
        }
    }

    /// Whether a command that matches an event more than once runs only once for it.
    pub(super) fn runs_equal_commands_once(self) -> bool {
        self == Self::ClaudeCode
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
