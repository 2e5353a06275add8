//! What people read: each format as it looks, and what is special about some.

use clap::ValueEnum as _;

use super::*;

/// Control characters but line feeds as their pictures.
fn visible(text: &str) -> String {
    let picture = |character: char| match character {
        '\n' => character,
        '\u{7f}' => '␡',
        _ if character.is_ascii_control() => char::from_u32(0x2400 + u32::from(character)).unwrap(),
        _ => character,
    };
    text.chars().map(picture).collect()
}

#[test]
fn each_format_writes_one_tricky_overlay() {
    let variables = [
        ("DSH_BACKSLASH", r"C:\new\"),
        ("DSH_CONTROLS", "tab\there, escape\u{1b}[0m, delete\u{7f}, return\r\n"),
        ("DSH_EMPTY", ""),
        ("DSH_EXPANSION", "$(id) `id` ${HOME} $HOME !! %PATH% ~ *"),
        ("DSH_HOME", "/home/user/.dsh"),
        ("DSH_LINES", "first\n\nthird # no comment\n"),
        ("DSH_PYTHONPATH", "/a:/b c"),
        ("DSH_QUOTES", r#"it's "quoted""#),
        ("DSH_TYPOGRAPHIC", "‘single’ ‚low‛ “double” 🦀"),
    ]
    .map(|(name, value)| (key(name), value.to_owned()));
    let inherited = InheritedManaged::among(["dsh_stale", "PATH", "DSH_OLD", "DSH_HOME", "DSH_OLD"]);
    for &format in Format::value_variants() {
        let name = format!("{format:?}").to_lowercase();
        insta::assert_snapshot!(name, visible(&rendered(format, &variables, &inherited)));
    }
}

#[test]
fn an_empty_overlay_removes_what_was_inherited_and_nothing_else() {
    let inherited = InheritedManaged::among(["DSH_OLD"]);
    let written = Format::value_variants().iter().map(|&format| rendered(format, &[], &inherited)).collect::<Vec<_>>();
    let expected = [
        "{}\n",
        "",
        "unset -v DSH_OLD\n",
        "set -eg DSH_OLD; or true;\n",
        "$env:DSH_OLD = $null\n",
        "hide-env --ignore-errors DSH_OLD\n",
        "",
    ];
    assert_eq!(written, expected);
}

#[test]
fn only_managed_identifiers_are_removed_each_once_and_sorted() {
    let names = [
        "dsh_stale",
        "DSH_OLD",
        "PATH",
        "DSH_",
        "DSH_A-B",
        "DSH_A B",
        "DSH_É",
        "DSH_OLD",
        "Dsh_1",
        "DSH_;id",
        "1DSH_X",
    ];
    let inherited = InheritedManaged::among(names);
    assert_eq!(inherited.iter().collect::<Vec<_>>(), ["DSH_", "DSH_OLD", "Dsh_1", "dsh_stale"]);
}

#[cfg(unix)]
#[test]
fn a_name_that_is_not_utf8_is_no_identifier() {
    use std::os::unix::ffi::OsStrExt;
    let name = std::ffi::OsStr::from_bytes(b"DSH_\xff");
    assert_eq!(InheritedManaged::among([name]), InheritedManaged::default());
}

proptest! {
    #[test]
    fn every_statement_for_powershell_is_one_line_in_which_quotes_come_in_pairs(value in any_value()) {
        let variables = [(key("DSH_X"), value.clone())];
        let line = rendered(Format::Pwsh, &variables, &InheritedManaged::default());
        let line = line.strip_suffix('\n').unwrap();
        prop_assert!(!line.contains(['\n', '\r']));
        prop_assert_eq!(read_as_powershell(line.strip_prefix("$env:DSH_X = ").unwrap()), value);
    }
}

/// Reads what PowerShell's documentation and tokenizer say of a string literal: any quote ends it unless
/// any quote follows, which then stands for itself. Literals are joined with `+` and `[char]N`.
fn read_as_powershell(expression: &str) -> String {
    let is_quote = |c: &char| "'‘’‚‛".contains(*c);
    let mut value = String::new();
    let mut rest = expression.chars().peekable();
    loop {
        if rest.next_if(is_quote).is_some() {
            loop {
                match rest.next().expect("a literal ends") {
                    quote if is_quote(&quote) => match rest.next_if(is_quote) {
                        Some(quote) => value.push(quote),
                        None => break,
                    },
                    character => value.push(character),
                }
            }
        } else {
            let code: String = std::iter::from_fn(|| rest.next_if(|c| *c != ' ')).collect();
            let code = code.strip_prefix("[char]").unwrap().parse().unwrap();
            value.push(char::from_u32(code).unwrap());
        }
        let between: String = rest.by_ref().take(3).collect();
        match between.as_str() {
            "" => return value,
            between => assert_eq!(between, " + "),
        }
    }
}
