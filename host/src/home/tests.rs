mod permissions;

use std::path::Component;

use proptest::prelude::*;
use serde::Deserialize;

use super::*;

#[derive(Deserialize)]
struct Row {
    configured: Option<String>,
    ambient: Option<String>,
    home: PathBuf,
    cwd: PathBuf,
    resolved: String,
}

/// What the original system answered.
fn oracle() -> Vec<Row> {
    serde_json::from_str(include_str!("../../../tests/fixtures/oracle/home.json")).unwrap()
}

fn surroundings(ambient: Option<&str>) -> Surroundings {
    Surroundings {
        ambient: ambient.map(OsString::from),
        user_home: Some("/home/u".into()),
        current_dir: Some("/tmp".into()),
    }
}

fn resolve(configured: Option<&str>, surroundings: &Surroundings) -> Result<Home> {
    Home::resolve_in(configured.map(OsStr::new), surroundings)
}

fn message(resolved: Result<Home>) -> String {
    let error = resolved.unwrap_err();
    assert_eq!(error.code(), Code::InvalidConfiguration);
    error.message().to_owned()
}

#[test]
fn a_home_is_where_the_original_system_has_it() {
    let rows = oracle();
    assert!(rows.len() > 20);
    for Row { configured, ambient, home, cwd, resolved } in rows {
        let surroundings = Surroundings {
            ambient: ambient.clone().map(OsString::from),
            user_home: Some(home),
            current_dir: Some(cwd),
        };
        let found = resolve(configured.as_deref(), &surroundings).unwrap();
        assert_eq!(found.as_str(), resolved, "{configured:?} {ambient:?}");
    }
}

#[test]
fn the_rule_that_chose_is_told() {
    let rule = |configured, ambient| resolve(configured, &surroundings(ambient)).unwrap().rule();
    assert_eq!(rule(Some("/c"), Some("/a")), HomeRule::Configured);
    assert_eq!(rule(None, Some("/a")), HomeRule::Ambient);
    assert_eq!(rule(None, Some("\u{3000} ")), HomeRule::Default);
    assert_eq!(rule(None, None), HomeRule::Default);
    assert_eq!(serde_json::to_value(HomeRule::Ambient).unwrap(), "ambient");
}

#[test]
fn a_blank_configured_home_is_an_error_and_a_blank_inherited_one_is_none() {
    for blank in ["", " ", "\t\n", "\u{feff}\u{a0}"] {
        assert!(message(resolve(Some(blank), &surroundings(Some("/a")))).contains("blank"));
        assert_eq!(resolve(None, &surroundings(Some(blank))).unwrap().as_str(), "/home/u/.dsh");
    }
}

#[cfg(unix)]
#[test]
fn a_home_that_is_not_utf8_is_an_error_wherever_it_comes_from() {
    use std::os::unix::ffi::OsStrExt as _;

    let bytes = OsStr::from_bytes(b"/h/\xff");
    assert!(message(Home::resolve_in(Some(bytes), &surroundings(None))).contains("UTF-8"));
    let of = |ambient: Option<OsString>, user_home: &OsStr, current_dir: &OsStr| Surroundings {
        ambient,
        user_home: Some(user_home.into()),
        current_dir: Some(current_dir.into()),
    };
    let (good, tmp) = (OsStr::new("/home/u"), OsStr::new("/tmp"));
    assert!(message(resolve(None, &of(Some(bytes.into()), good, tmp))).contains("inherited"));
    assert!(message(resolve(None, &of(None, bytes, tmp))).contains("name another"));
    assert!(message(resolve(Some("rel"), &of(None, good, bytes))).contains("name another"));
    // What is not used does no harm.
    assert_eq!(resolve(Some("/c"), &of(Some(bytes.into()), bytes, bytes)).unwrap().as_str(), "/c");
}

#[test]
fn what_a_home_is_resolved_from_must_be_known_where_it_is_needed() {
    let nothing = Surroundings::default();
    assert!(message(resolve(None, &nothing)).contains("set HOME"));
    assert!(message(resolve(Some("~/x"), &nothing)).contains("set HOME"));
    assert!(message(resolve(Some("x"), &nothing)).contains("current directory"));
    assert_eq!(resolve(Some("/x"), &nothing).unwrap().as_str(), "/x");
    let relative = Surroundings { current_dir: Some("not/absolute".into()), ..Surroundings::default() };
    assert!(message(resolve(Some("x"), &relative)).contains("current directory"));
}

#[test]
fn a_relative_home_of_the_user_is_made_absolute_too() {
    let surroundings = Surroundings { user_home: Some("u".into()), ..surroundings(None) };
    assert_eq!(resolve(None, &surroundings).unwrap().as_str(), "/tmp/u/.dsh");
}

#[test]
fn a_home_that_no_path_can_name_is_an_error() {
    assert!(message(resolve(Some("/a\0b"), &surroundings(None))).contains("NUL"));
    assert!(message(resolve(None, &surroundings(Some("a\0b")))).contains("NUL"));
}

#[test]
fn the_process_has_a_home_and_nothing_is_made_of_it() {
    let dir = tempfile::tempdir().unwrap();
    let home = Home::resolve(Some(dir.path().join("h").as_os_str())).unwrap();
    assert_eq!(home.path(), dir.path().join("h"));
    assert!(!home.path().exists());
}

#[test]
fn two_parts_with_one_home_agree_and_with_two_are_both_named() {
    let home = |text| resolve(Some(text), &surroundings(None)).unwrap();
    let agreed = Home::agreed(("the shell environment", home("~/x")), ("local skills", home("/home/u/y/../x/")));
    assert_eq!(agreed.unwrap().as_str(), "/home/u/x");
    let error = Home::agreed(("the shell environment", home("/x")), ("local skills", home("/y"))).unwrap_err();
    assert_eq!(error.code(), Code::ContradictoryHomes);
    insta::assert_snapshot!(error, @"the shell environment has its home at /x and local skills at /y: give both the same (contradictory-homes)");
}

/// Text with a good share of what the rule treats in a way of its own.
fn text() -> impl Strategy<Value = String> {
    let part = proptest::sample::select(vec!["~", "/", "\\", "..", ".", "$HOME", " ", "a", "ü", "\u{feff}", "\0"]);
    prop_oneof![proptest::collection::vec(part, 0..8).prop_map(|parts| parts.concat()), any::<String>()]
}

proptest! {
    #[test]
    fn a_home_is_absolute_and_normal_and_resolves_to_itself(
        configured in proptest::option::of(text()),
        ambient in proptest::option::of(text()),
        elsewhere in "(/[a-z.~]{1,5}){1,3}",
    ) {
        let Ok(home) = resolve(configured.as_deref(), &surroundings(ambient.as_deref())) else {
            // Only what a person can see to be wrong is refused.
            let text = configured.or(ambient).unwrap();
            prop_assert!(text::is_blank(&text) || text.contains('\0'));
            return Ok(());
        };
        prop_assert!(home.path().is_absolute());
        prop_assert!(home.path().components().all(|part| matches!(part, Component::RootDir | Component::Normal(_))));
        prop_assert!(!home.as_str().contains("//"));
        prop_assert!(home.as_str() == "/" || !home.as_str().ends_with('/'));
        let surroundings = Surroundings { current_dir: Some(elsewhere.into()), ..Surroundings::default() };
        let again = resolve(Some(home.as_str()), &surroundings).unwrap();
        prop_assert_eq!(again.as_str(), home.as_str());
    }
}
