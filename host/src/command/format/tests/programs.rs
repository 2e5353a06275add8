//! The formats that are not a shell's, read back by programs' own readers.

use super::*;
use std::collections::BTreeMap;

proptest! {
    #[test]
    fn dotenvy_reads_every_value_back(variables in any_variables()) {
        let written = rendered(Format::Dotenv, &variables, &InheritedManaged::default());
        let read: Vec<_> = dotenvy::from_read_iter(written.as_bytes()).collect::<Result<_, _>>().unwrap();
        let expected: Vec<_> = variables.into_iter().map(|(key, value)| (key.to_string(), value)).collect();
        prop_assert_eq!(read, expected);
    }

    #[test]
    fn json_is_one_line_and_reads_back(variables in any_variables()) {
        let written = rendered(Format::Json, &variables, &InheritedManaged::default());
        prop_assert_eq!(written.find('\n'), Some(written.len() - 1));
        let read: BTreeMap<String, String> = serde_json::from_str(&written).unwrap();
        let expected: BTreeMap<_, _> = variables.into_iter().map(|(key, value)| (key.to_string(), value)).collect();
        prop_assert_eq!(read, expected);
    }

    #[test]
    fn nul_splits_back_into_its_entries(variables in any_variables()) {
        let written = rendered(Format::Nul, &variables, &InheritedManaged::default());
        let entries: Vec<_> = written.split_terminator('\0').map(|entry| entry.split_once('=').unwrap()).collect();
        let expected: Vec<_> = variables.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        prop_assert_eq!(entries, expected);
    }
}

#[test]
fn a_plain_value_is_written_bare_for_readers_without_quotes() {
    let variables = [(key("DSH_HOME"), "/home/user/.dsh".to_owned()), (key("DSH_EMPTY"), String::new())];
    let written = rendered(Format::Dotenv, &variables, &InheritedManaged::default());
    assert_eq!(written, "DSH_HOME=/home/user/.dsh\nDSH_EMPTY=\n");
}
