use proptest::prelude::*;
use serde_json::json;

use super::*;

#[test]
fn what_every_event_has_comes_first() {
    let event = Event {
        seq: 3,
        kind: "tool/call".to_owned(),
        at: 17,
        fields: json!({ "zeta": 1, "alpha": "ü\n" }).as_object().unwrap().clone(),
    };
    assert_eq!(
        serde_json::to_string(&event).unwrap(),
        r#"{"seq":3,"type":"tool/call","at":17,"alpha":"ü\n","zeta":1}"#
    );
}

#[test]
fn a_kind_that_nobody_knows_is_kept_as_it_is() {
    let line = json!({ "seq": 0, "type": "from/the-future", "at": 1, "deep": { "er": [null, 1.5] } });
    let event = Event::from_json(line.clone()).unwrap();
    assert_eq!(event.kind, "from/the-future");
    assert_eq!(serde_json::to_value(&event).unwrap(), line);
}

#[test]
fn what_is_no_event_is_damage() {
    for bad in [
        json!(null),
        json!({}),
        json!({ "type": "a", "at": 1 }),
        json!({ "seq": -1, "type": "a", "at": 1 }),
        json!({ "seq": 0.5, "type": "a", "at": 1 }),
        json!({ "seq": 0, "at": 1 }),
        json!({ "seq": 0, "type": 1, "at": 1 }),
        json!({ "seq": 0, "type": "a" }),
        json!({ "type": "session", "version": 0, "id": "s" }),
    ] {
        assert_eq!(Event::from_json(bad.clone()).unwrap_err().code(), Code::SessionDamaged, "{bad}");
    }
}

proptest! {
    #[test]
    fn what_was_written_is_read_back(seq in any::<u64>(), kind in any::<String>(), at in any::<u64>(), text in any::<String>()) {
        let fields = json!({ "text": text }).as_object().unwrap().clone();
        let event = Event { seq, kind, at, fields };
        let line = serde_json::to_string(&event).unwrap();
        prop_assert!(!line.contains('\n'));
        prop_assert_eq!(Event::from_json(serde_json::from_str(&line).unwrap()).unwrap(), event);
    }
}
