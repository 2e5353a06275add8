//! Files that are there already.

use std::fs::File;
use std::os::unix::fs::PermissionsExt as _;

use super::*;

const VERSION_1: &str = include_str!("../../../../../tests/fixtures/lock/version-1.lock");

#[test]
fn without_a_file_nothing_was_accepted() {
    let place = Place::new();
    assert_eq!(place.file.read().unwrap(), Lock::default());
    assert_eq!(place.names(), [] as [&str; 0]);
}

#[test]
fn a_file_of_version_1_is_read_and_written_as_it_was() {
    let place = Place::new();
    place.write(VERSION_1);
    let lock = place.file.read().unwrap();
    let ticket = lock.entry("ticket").unwrap();
    assert_eq!((ticket.file.as_str(), ticket.live.accepted), ("ticket.wasm", 1_764_547_203));
    assert_eq!(ticket.live.imports, ["wasi:cli/environment@0.2.0", "wasi:config/store@0.2.0-draft"]);
    assert_eq!(ticket.live.grants, r#"{"config":["url"],"env":["CI"]}"#);
    assert!(!ticket.live.variables[0].sensitive && ticket.live.variables[1].sensitive);
    assert_eq!(ticket.live.variables[0].description, "The ticket that is worked on, as \"ABC-1\".");
    assert!(ticket.is_held(&"4".repeat(64)));
    assert_eq!(ticket.previous().map(|build| build.digest.clone()).collect::<Vec<_>>(), ["2".repeat(64)]);
    assert_eq!(lock.owner("DSH_TICKET_TOKEN"), Some(&name("ticket")));
    assert_eq!(lock.name_of("region.wasm"), Some(&name("acme.region")));
    fs::remove_file(place.file.path()).unwrap();
    place
        .file
        .edit(|empty| {
            *empty = lock;
            Ok(())
        })
        .unwrap();
    assert_eq!(fs::read_to_string(place.file.path()).unwrap(), VERSION_1);
}

#[test]
fn what_may_be_left_out_may_be_left_out() {
    let place = Place::new();
    place.write("version = 1\n");
    assert_eq!(place.file.read().unwrap(), Lock::default());
    let digest = digest(1);
    place.write(format!(
        "version = 1\ncontributors.a = {{ file = \"a.wasm\", live = {{ digest = \"{digest}\", accepted = 1 }} }}\n"
    ));
    let lock = place.file.read().unwrap();
    assert_eq!(lock.entry("a").unwrap().live, build(1, &[]));
}

#[test]
fn another_version_is_told_whatever_else_is_in_the_file() {
    for text in ["version = 2\n", "version = 2\n[trusted]\nkeys = [1]\n", "version = -1\ncontributors = 7\n"] {
        let place = Place::new();
        place.write(text);
        let fault = place.fault();
        assert_eq!(fault.code(), Code::InvalidConfiguration);
        let message = fault.message();
        assert!(message.contains("of the format, and this host reads 1"), "{message}");
        assert!(message.contains("Use a host of the version that wrote it"), "{message}");
        assert_eq!(fs::read_to_string(place.file.path()).unwrap(), text);
    }
}

#[test]
fn what_this_host_did_not_write_is_refused_and_left_alone() {
    let (one, key) = (digest(1), "[[contributors.a.live.variables]]\nkey");
    let entry = |name: &str, file: &str, digest: &str| {
        format!(
            "[contributors.{name}]\nfile = '{file}'\n[contributors.{name}.live]\ndigest = '{digest}'\naccepted = 1\n"
        )
    };
    let texts = [
        ("", "missing field"),
        ("\u{0}\u{1}garbage", "because"),
        ("version = 1\nversion = 1\n", "duplicate key"),
        ("version = \"1\"\n", "invalid type"),
        ("version = 1\nunknown = 1\n", "unknown field"),
        ("version = 1\n[contributors.A]\n", "because"),
        ("version = 1\n[contributors.host]\nfile = 'a'\n", "because"),
        ("version = 1\n[contributors.a]\nfile = 'a'\n", "missing field `live`"),
        (&format!("version = 1\n{}", entry("a", "a.wasm", "1234")), "has no digest but \"1234\""),
        (&format!("version = 1\n{}", entry("a", "a.wasm", &"A".repeat(64))), "has no digest but"),
        (&format!("version = 1\n{}", entry("a", "../a.wasm", &one)), "the file of a is no name of a file"),
        (&format!("version = 1\n{}", entry("a", "..", &one)), "the file of a is no name of a file"),
        (&format!("version = 1\n{}", entry("a", "", &one)), "the file of a is no name of a file"),
        (
            &format!("version = 1\n{}{}", entry("a", "a.wasm", &one), entry("b", "a.wasm", &one)),
            "or that of another contributor",
        ),
        (
            &format!("version = 1\n{}{key} = 'PATH'\ndescription = 'x'\n", entry("a", "a.wasm", &one)),
            "a has the key \"PATH\", which is none",
        ),
    ];
    for (text, why) in texts {
        let place = Place::new();
        place.write(text);
        let fault = place.fault();
        assert_eq!(fault.code(), Code::InvalidConfiguration);
        let message = fault.message();
        assert!(message.contains(why), "{text:?}: {message}");
        assert!(message.contains("dsh-env.lock: what was accepted is not known, because"), "{message}");
        assert!(message.ends_with("Put the file back as it was, or remove it and approve what is installed anew"));
        assert!(!message.chars().any(char::is_control) && message.len() < 1500);
        assert_eq!((fs::read_to_string(place.file.path()).unwrap().as_str(), place.names().len()), (text, 1));
    }
}

#[test]
fn what_is_no_text_or_no_file_or_too_large_is_refused() {
    let place = Place::new();
    place.write(b"version = 1\n# \xff\n");
    assert!(place.fault().message().contains("it is not UTF-8"));
    let file = File::create(place.file.path()).unwrap();
    file.set_len(64 * 1024 * 1024 + 1).unwrap();
    assert!(place.fault().message().contains("it has more than 67108864 bytes"));
    fs::remove_file(place.file.path()).unwrap();
    fs::create_dir(place.file.path()).unwrap();
    assert!(place.fault().message().contains("it is a directory"));
}

#[test]
fn a_link_is_refused_since_a_change_would_replace_it() {
    for target in ["elsewhere", "nowhere"] {
        let place = Place::new();
        fs::write(place.folder.path().join("elsewhere"), VERSION_1).unwrap();
        std::os::unix::fs::symlink(target, place.file.path()).unwrap();
        let fault = place.fault();
        assert_eq!(fault.code(), Code::InvalidConfiguration);
        for words in ["it is a link", "Put the file itself there, or remove it"] {
            assert!(fault.message().contains(words), "{fault}");
        }
        assert!(place.file.path().is_symlink());
    }
}

#[test]
fn a_file_that_others_may_write_is_not_believed() {
    let place = Place::new();
    place.write(VERSION_1);
    fs::set_permissions(place.file.path(), fs::Permissions::from_mode(0o666)).unwrap();
    let fault = place.fault();
    assert_eq!(fault.code(), Code::UnsafePermissions);
    assert!(fault.message().contains("chmod go-w"));
}

proptest! {
    #[test]
    fn no_text_panics(text in prop_oneof![any::<String>(), "(version = [12]\n)?(\\[contributors\\.a\\]\n)?\\PC{0,40}"]) {
        let place = Place::new();
        place.write(&text);
        let _ = place.file.read();
    }
}
