use proptest::prelude::*;
use serde_json::Value;

use super::{has_more_values_than, read};
use crate::server::role::Role;

/// How many values there are, the names in objects included.
fn count(value: &Value) -> usize {
    1 + match value {
        Value::Array(values) => values.iter().map(count).sum(),
        Value::Object(members) => members.values().map(|value| 1 + count(value)).sum(),
        _ => 0,
    }
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "[\\PC,:{}\"\\\\\\[\\]]{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 64, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((".{0,6}", inner), 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn no_json_has_more_values_than_are_counted(value in any_value()) {
        let text = value.to_string();
        let counted = (0..).find(|&most| !has_more_values_than(text.as_bytes(), most)).unwrap();
        let empty = text.matches("[]").count() + text.matches("{}").count();
        prop_assert!(count(&value) <= counted && counted <= count(&value) + empty, "{}: {}", text, counted);
    }

    #[test]
    fn any_line_is_a_request_or_is_answered(line in prop::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(read(&line, Role::Admin).is_err_and(|refused| refused.is_answered));
    }

    #[test]
    fn any_json_is_a_request_or_is_refused(mut value in any_value(), id in any_value(), parameters in any_value()) {
        if let Value::Object(members) = &mut value {
            members.insert("jsonrpc".to_owned(), "2.0".into());
            members.insert("method".to_owned(), "overlay.collect".into());
            members.insert("id".to_owned(), id);
            members.insert("params".to_owned(), parameters.clone());
        }
        match read(value.to_string().as_bytes(), Role::Collect) {
            Ok(request) => prop_assert!(parameters.is_null() || parameters == Value::Object(request.parameters)),
            Err(refused) => prop_assert!(!refused.refusal.error.message().chars().any(char::is_control)),
        }
    }
}
