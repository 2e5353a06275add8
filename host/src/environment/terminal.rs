//! What keeps programs from behaving as if a person sat at a terminal.

/// What programs are told about the terminal, in step 2 of the merge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TerminalSettings {
    /// Nothing: what was inherited stays. For a command that a person runs.
    Inherited,
    /// No colours, no pagers that would wait for a key, and a terminal that can do nothing.
    #[default]
    Plain,
    /// As [`Plain`](Self::Plain), but `TERM` stays as it was inherited: PowerShell cannot work with a
    /// terminal that can do nothing.
    PlainForPwsh,
}

impl TerminalSettings {
    /// The variables that are set.
    pub(super) fn variables(self) -> impl Iterator<Item = (&'static str, &'static str)> {
        const PLAIN: [(&str, &str); 3] = [("NO_COLOR", "1"), ("PAGER", "cat"), ("GIT_PAGER", "cat")];
        const TERM: [(&str, &str); 1] = [("TERM", "dumb")];
        let (plain, term): (&[_], &[_]) = match self {
            Self::Inherited => (&[], &[]),
            Self::Plain => (&PLAIN, &TERM),
            Self::PlainForPwsh => (&PLAIN, &[]),
        };
        plain.iter().chain(term).copied()
    }
}
