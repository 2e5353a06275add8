//! Documents made from the definitions: completions and the manual page.

use std::io::Write as _;
use std::process::ExitCode;

use anyhow::Result;
use clap::CommandFactory as _;

use super::arguments::{Arguments, CompletionsArguments};

/// Prints completions for a shell.
pub(crate) fn completions(arguments: &CompletionsArguments) -> Result<ExitCode> {
    let mut buffer = Vec::new();
    clap_complete::generate(arguments.shell, &mut Arguments::command(), "dsh-env", &mut buffer);
    write(&buffer)
}

/// Prints one manual page with every command in it.
pub(crate) fn man() -> Result<ExitCode> {
    let mut command = Arguments::command();
    command.build();
    let mut buffer = Vec::new();
    clap_mangen::Man::new(command.clone()).render(&mut buffer)?;
    for sub in commands_below(&command) {
        let page = clap_mangen::Man::new(sub.clone());
        writeln!(buffer, ".SH {}", sub.get_bin_name().unwrap_or_else(|| sub.get_name()).to_uppercase())?;
        page.render_description_section(&mut buffer)?;
        page.render_options_section(&mut buffer)?;
        page.render_extra_section(&mut buffer)?;
    }
    write(&buffer)
}

fn commands_below(command: &clap::Command) -> Vec<&clap::Command> {
    let visible = command.get_subcommands().filter(|sub| sub.get_name() != "help");
    visible.flat_map(|sub| std::iter::once(sub).chain(commands_below(sub))).collect()
}

fn write(bytes: &[u8]) -> Result<ExitCode> {
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(bytes)?;
    stdout.flush()?;
    Ok(ExitCode::SUCCESS)
}
