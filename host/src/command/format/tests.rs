#[cfg(unix)]
#[path = "../../../../tests/support/shells.rs"]
mod installed;
mod programs;
#[cfg(unix)]
mod shells;
mod text;

use super::*;
use proptest::prelude::*;

fn key(text: &str) -> Key {
    Key::new(text).unwrap()
}

/// One value for each name, rendered.
fn rendered(format: Format, variables: &[(Key, String)], inherited: &InheritedManaged) -> String {
    render(format, variables.iter().map(|(key, value)| (key, value.as_str())), inherited)
}

/// Values without NUL: any Unicode, and more often than not what some reader takes for its own.
fn any_value() -> impl Strategy<Value = String> {
    const TRICKY: &str = "'\"`$(){}[]\\!#=;&|<>*?~%^-+,:. \t\r\n\u{1}\u{1b}\u{7f}\u{80}\u{85}\u{a0}\u{2028}aA0n\
        \u{2018}\u{2019}\u{201a}\u{201b}\u{201c}\u{201d}\u{f600}\u{f6ff}\u{fdd0}\u{feff}\u{101}ü漢🦀";
    let tricky = prop::sample::select(TRICKY.chars().collect::<Vec<_>>());
    let character = prop_oneof![3 => tricky, 1 => any::<char>().prop_filter("no NUL", |c| *c != '\0')];
    prop::collection::vec(character, 0..12).prop_map(String::from_iter)
}

/// Many variables, so that one start of a shell reads many values. Every other name ends in `PATH`.
fn any_variables() -> impl Strategy<Value = Vec<(Key, String)>> {
    prop::collection::vec(any_value(), 1..32).prop_map(|values| {
        let name = |at: usize| if at.is_multiple_of(2) { format!("DSH_V{at}") } else { format!("DSH_V{at}_PATH") };
        values.into_iter().enumerate().map(|(at, value)| (key(&name(at)), value)).collect()
    })
}
