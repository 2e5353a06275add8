//! Whatever comes back, nothing panics and nothing invalid gets through.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::support::{Server, answer_with, call, result_with};
use crate::contract::Key;
use crate::protocol::CollectResult;

fn is_valid(result: &CollectResult) -> bool {
    let env = &result.env.0;
    let is_sorted = env.is_sorted_by(|(a, _), (b, _)| a < b);
    let keys = env.iter().map(|(key, _)| key).chain(&result.unset).chain(&result.sensitive).chain(&result.degraded);
    let bytes: usize = env.iter().map(|(key, value)| key.len() + value.len() + 2).sum();
    is_sorted
        && bytes <= 128 * 1024
        && keys.into_iter().all(|key| Key::new(key).is_ok())
        && env.iter().all(|(_, value)| !value.contains('\0'))
        && result.sensitive.iter().all(|key| env.iter().any(|(known, _)| known == key))
        && result.unset.iter().all(|key| env.iter().all(|(known, _)| known != key))
        && result.call == call().call_id
}

fn key() -> impl Strategy<Value = String> {
    prop_oneof![4 => "DSH_[A-C]", 1 => "(DSH_|dsh_)?[A-Za-z0-9_=]{0,4}", 1 => "\\PC{0,3}"]
}

fn keys() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec(key(), 0..4)
}

fn json_of_any_shape() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::hash_map(key(), inner, 0..4).prop_map(Value::from_iter),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn random_bytes_are_no_collection(mut bytes in prop::collection::vec(any::<u8>(), 0..400), ends in any::<bool>()) {
        if ends {
            bytes.push(b'\n');
        }
        let server = Server::saying(bytes);
        let error = server.collect().unwrap_err();
        server.assert_told(&error);
    }

    #[test]
    fn an_answer_with_bytes_replaced_is_refused_or_valid(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let mut answer = answer_with(|_| {});
        for (at, byte) in changes {
            let at = at.index(answer.len());
            answer[at] = byte;
        }
        if let Ok(result) = Server::saying(answer).collect() {
            prop_assert!(is_valid(&result));
        }
    }

    #[test]
    fn any_variables_are_refused_or_valid(
        env in prop::collection::vec((key(), "[a\\x00-\\x1f]{0,3}|\\PC{0,8}"), 0..6),
        (unset, sensitive, degraded) in (keys(), keys(), keys()),
    ) {
        let answer = answer_with(|result| {
            result["env"] = Value::from_iter(env);
            result["unset"] = json!(unset);
            result["sensitive"] = json!(sensitive);
            result["degraded"] = json!(degraded);
        });
        if let Ok(result) = Server::saying(answer).collect() {
            prop_assert!(is_valid(&result));
        }
    }

    #[test]
    fn any_json_in_any_place_is_refused_or_valid(
        field in prop::sample::select(vec!["env", "unset", "sensitive", "degraded", "call", "contributors"]),
        value in json_of_any_shape(),
    ) {
        let answer = answer_with(|result| result[field] = value);
        if let Ok(result) = Server::saying(answer).collect() {
            prop_assert!(is_valid(&result));
        }
    }
}

#[test]
fn what_is_valid_gets_through() {
    let result: CollectResult = serde_json::from_value(result_with(|_| {})).unwrap();
    assert_eq!(result.env.0.len(), 3);
    assert!(is_valid(&Server::saying(answer_with(|_| {})).collect().unwrap()));
}
