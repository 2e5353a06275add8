use serde_json::json;

use super::*;

fn full() -> LogHeader {
    LogHeader {
        session: SessionHeader {
            id: SessionId::new("s1").unwrap(),
            created_at: Some(1_700_000_000_000),
            cwd: Some("/srv".to_owned()),
            parent_session: Some("s0".to_owned()),
            origin: Some("subagent".to_owned()),
            delegation_depth: Some(1),
        },
        seed_length: Some(4),
        agent_preset: Some("default".to_owned()),
    }
}

#[test]
fn it_is_the_first_line_that_the_specification_shows() {
    assert_eq!(
        serde_json::to_string(&full()).unwrap(),
        r#"{"type":"session","version":0,"id":"s1","createdAt":1700000000000,"cwd":"/srv","parentSession":"s0","seedLength":4,"origin":"subagent","delegationDepth":1,"agentPreset":"default"}"#
    );
}

#[test]
fn what_is_not_known_is_left_out_but_for_the_time_and_the_depth() {
    let header = LogHeader::new(SessionHeader::new(SessionId::new("s1").unwrap()));
    assert_eq!(
        serde_json::to_string(&header).unwrap(),
        r#"{"type":"session","version":0,"id":"s1","createdAt":0,"delegationDepth":0}"#
    );
}

#[test]
fn what_was_written_is_read_back() {
    assert_eq!(LogHeader::from_json(serde_json::to_value(full()).unwrap()).unwrap(), full());
}

#[test]
fn fields_of_a_later_writer_are_ignored_and_null_is_absent() {
    let header = LogHeader::from_json(json!({
        "type": "session", "version": 0, "id": "s", "createdAt": 1.0, "delegationDepth": 0, "cwd": null, "mood": ["good"]
    }))
    .unwrap();
    assert_eq!((header.session.created_at, header.session.cwd), (Some(1), None));
}

#[test]
fn a_log_of_another_version_asks_for_an_upgrade_and_is_not_called_damaged() {
    let error = LogHeader::from_json(json!({ "type": "session", "version": 7, "ID": "new" })).unwrap_err();
    assert_eq!(error.code(), Code::SessionVersion);
    for part in ["version 7", "version 0", "upgrade dsh-env", "not damaged"] {
        assert!(error.message().contains(part), "{error}");
    }
}

#[test]
fn anything_else_is_damage() {
    let good = serde_json::to_value(full()).unwrap();
    let with = |name: &str, value: Value| {
        let mut changed = good.clone();
        changed[name] = value;
        changed
    };
    for bad in [
        json!([]),
        json!("session"),
        with("type", json!("tool/call")),
        with("type", json!(null)),
        with("version", json!("0")),
        with("version", json!(null)),
        with("id", json!("")),
        with("id", json!(7)),
        with("createdAt", json!("now")),
        with("createdAt", json!(-1)),
        with("createdAt", json!(0.5)),
        with("createdAt", json!(null)),
        with("cwd", json!(1)),
        with("seedLength", json!("4")),
        with("delegationDepth", json!(null)),
        with("delegationDepth", json!(u64::MAX)),
        with("agentPreset", json!({})),
    ] {
        assert_eq!(LogHeader::from_json(bad.clone()).unwrap_err().code(), Code::SessionDamaged, "{bad}");
    }
}
