//! The shells that run a model's commands: how each is started.

use std::ffi::{OsStr, OsString};

use super::{TerminalSettings, strict_shell};

/// A shell that a model may be offered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Shell {
    /// GNU Bash.
    #[default]
    Bash,
    /// PowerShell.
    Pwsh,
}

impl Shell {
    /// Every shell.
    pub const ALL: &'static [Self] = &[Self::Bash, Self::Pwsh];

    /// The name of the tool and of the program.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Bash => "bash",
            Self::Pwsh => "pwsh",
        }
    }

    /// Whether the program is on the path of this process.
    #[must_use]
    pub fn is_installed(self) -> bool {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let file = format!("{}{}", self.name(), std::env::consts::EXE_SUFFIX);
        std::env::split_paths(&path).any(|folder| folder.join(&file).is_file())
    }

    /// The arguments that run a script and no start-up file.
    #[must_use]
    pub fn script_arguments(self, script: &str) -> Vec<OsString> {
        let mut arguments = strict_shell::script_arguments(OsStr::new(self.name()), OsStr::new(script));
        if self == Self::Pwsh {
            // A prompt would wait for ever: nobody is there to answer it.
            arguments.insert(0, "-NonInteractive".into());
        }
        arguments
    }

    /// What programs are told of the terminal.
    #[must_use]
    pub fn terminal(self) -> TerminalSettings {
        match self {
            Self::Bash => TerminalSettings::Plain,
            Self::Pwsh => TerminalSettings::PlainForPwsh,
        }
    }
}
