use super::{Env, ErrorObject, Method};
use crate::contract::{ContributorName, Key};
use crate::error::{Code, Error, Result};
use crate::text::MAX_SHOWN_BYTES;

/// The error as it is after its way to a client.
fn across(error: &Error) -> Error {
    let object = ErrorObject { code: -32000, message: error.message().to_owned(), data: Some(error) };
    let line = serde_json::to_string(&object).unwrap();
    serde_json::from_str::<ErrorObject>(&line).unwrap().into_error()
}

fn told(data: serde_json::Value) -> Error {
    let object = serde_json::json!({"code": -32000, "message": "m", "data": data});
    serde_json::from_value::<ErrorObject>(object).unwrap().into_error()
}

#[test]
fn every_error_is_the_same_on_the_other_side() -> Result<()> {
    for &code in Code::ALL {
        let plain = Error::host(code, "what to do");
        let name = ContributorName::new("git-workspace")?;
        let load = Error::load(code, "x").by(&name);
        let resolve = Error::resolve(code, "x").by(&name).about(&Key::new("DSH_A")?);
        for error in [plain, load, resolve] {
            assert_eq!(across(&error), error);
        }
    }
    Ok(())
}

#[test]
fn a_word_that_a_newer_server_has_is_kept_in_the_message() {
    let error = told(serde_json::json!({"stage": "orbit", "code": "too-far", "message": "land", "new": 1}));
    assert_eq!((error.code(), error.message()), (Code::Internal, "land (too-far)"));
}

#[test]
fn what_a_server_says_steers_no_terminal_and_ends_somewhere() {
    let evil = "\u{1b}[31m\n".repeat(10_000);
    let data = serde_json::json!({"stage": "host", "code": evil, "contributor": evil, "key": evil, "message": evil});
    let error = told(data).to_string();
    assert!(!error.chars().any(char::is_control) && error.len() < 10 * MAX_SHOWN_BYTES, "{} bytes", error.len());
}

#[test]
fn an_error_that_is_not_of_this_library_is_told_all_the_same() {
    let error = serde_json::from_str::<ErrorObject>(r#"{"code":7,"message":"no"}"#).unwrap().into_error();
    assert_eq!((error.code(), error.message()), (Code::Internal, "the server says: no (7)"));
}

#[test]
fn every_method_is_found_by_its_name() {
    for &method in Method::ALL {
        assert_eq!(Method::named(method.as_str()), Some(method));
    }
    assert_eq!(Method::named("host.hell"), None);
}

#[test]
fn variables_keep_their_order_and_show_no_value() {
    let env: Env = serde_json::from_str(r#"{"B":"secret","A":"2","B":"3"}"#).unwrap();
    assert_eq!(serde_json::to_string(&env).unwrap(), r#"{"B":"secret","A":"2","B":"3"}"#);
    assert_eq!(format!("{env:?}"), r#"{"B", "A", "B"}"#);
}
