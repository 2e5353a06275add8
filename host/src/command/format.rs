//! An overlay as text that shells and programs read.
//!
//! Every format gives back each value byte for byte, whatever is in it; where a reader cannot take one,
//! the format's own file says so. The shell formats first remove every managed variable that the shell
//! inherited, so that what remains of the namespace is the overlay; sourcing them prints nothing and
//! succeeds, also where a removed variable is not set.
//!
//! None of the formats has a comment or anything else around the variables: an interactive zsh that
//! evaluates them would run a comment as a command.

mod bash;
mod dotenv;
mod fish;
mod inherited;
mod json;
mod nu;
mod nul;
mod pwsh;

pub(crate) use inherited::InheritedManaged;

use dsh_env::contract::Key;

/// How an overlay is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    /// One JSON object on one line.
    Json,
    /// A .env file, one variable after the other.
    Dotenv,
    /// For bash, sh, zsh and other shells of POSIX: eval "$(dsh-env env --format bash)".
    Bash,
    /// For fish: dsh-env env --format fish | source.
    Fish,
    /// For PowerShell: dsh-env env --format pwsh | Invoke-Expression.
    Pwsh,
    /// For Nushell: save it to a file, then source that.
    Nu,
    /// KEY=VALUE, each closed by a NUL byte, as in an environment.
    Nul,
}

/// The variables in a format, in their order; with what removes `inherited` before them where the format
/// is a shell's.
#[must_use]
pub(crate) fn render<'a>(
    format: Format,
    variables: impl Iterator<Item = (&'a Key, &'a str)>,
    inherited: &InheritedManaged,
) -> String {
    match format {
        Format::Json => json::render(variables),
        Format::Dotenv => lines([], variables.map(dotenv::assignment)),
        Format::Bash => lines(inherited.iter().map(bash::removal), variables.map(bash::assignment)),
        Format::Fish => lines(inherited.iter().map(fish::removal), variables.map(fish::assignment)),
        Format::Pwsh => lines(inherited.iter().map(pwsh::removal), variables.map(pwsh::assignment)),
        Format::Nu => lines(inherited.iter().map(nu::removal), variables.map(nu::assignment)),
        Format::Nul => nul::render(variables),
    }
}

fn lines(removals: impl IntoIterator<Item = String>, assignments: impl Iterator<Item = String>) -> String {
    let mut text = String::new();
    for line in removals.into_iter().chain(assignments) {
        text.push_str(&line);
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests;
