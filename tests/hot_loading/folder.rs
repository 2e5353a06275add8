//! What is put into the folder, changed there and taken away.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use super::*;
use dsh_env::Code;

#[test]
fn a_file_that_is_added_replaced_and_removed_takes_effect_without_anybodys_asking() {
    let place = Place::new();
    let running = Running::of(&place);
    assert_eq!(running.value("DSH_TICKET"), None);
    place.install("ticket", ticket("one"));
    running.until_value("DSH_TICKET", Some("one"));
    place.install("ticket", ticket("two"));
    running.until_value("DSH_TICKET", Some("two"));
    fs::remove_file(installed(&place, "ticket")).unwrap();
    running.until_value("DSH_TICKET", None);
    let status = running.status("ticket").unwrap();
    assert_eq!((status.file, status.digest), (None, None), "its name stays owned");
}

#[test]
fn without_events_a_change_is_found_by_looking() {
    let place = Place::new();
    let running = Running::watching(&place, Watch::Poll);
    place.install("ticket", ticket("one"));
    running.until_value("DSH_TICKET", Some("one"));
    place.install("ticket", ticket("two"));
    running.until_value("DSH_TICKET", Some("two"));
}

#[test]
fn a_link_that_is_switched_is_a_replacement_and_so_is_a_change_of_what_it_leads_to() {
    let place = Place::new();
    let (one, two) = (place.write("builds/one.wasm", ticket("one")), place.write("builds/two.wasm", ticket("two")));
    let running = Running::of(&place);
    let link = installed(&place, "ticket");
    symlink(&one, &link).unwrap();
    running.until_value("DSH_TICKET", Some("one"));
    let next = place.home().join("contributors/.next");
    symlink(&two, &next).unwrap();
    fs::rename(&next, &link).unwrap();
    running.until_value("DSH_TICKET", Some("two"));
    fs::write(&two, ticket("three")).unwrap();
    running.until_value("DSH_TICKET", Some("three"));
}

#[test]
fn a_file_that_is_half_written_is_not_loaded_although_its_half_would_do() {
    let place = Place::new();
    let running = Running::of(&place);
    place.install("ticket", ticket("one"));
    running.until_value("DSH_TICKET", Some("one"));
    // Whole as it is, and still not closed: only its writer knows what is to come.
    let mut file = fs::File::create(installed(&place, "ticket")).unwrap();
    file.write_all(&ticket("two")).unwrap();
    file.flush().unwrap();
    let status = running.until_state("ticket", State::Refused);
    assert!(status.error.as_ref().unwrap().message().contains("still writing"), "{status:?}");
    assert_eq!(running.value("DSH_TICKET").as_deref(), Some("one"));
    drop(file);
    running.until_value("DSH_TICKET", Some("two"));
}

#[test]
fn what_cannot_be_loaded_leaves_the_old_build_live_and_says_why() {
    let place = Place::new();
    let running = Running::of(&place);
    place.install("ticket", ticket("one"));
    running.until_value("DSH_TICKET", Some("one"));
    let bad: [(&[u8], Code); 3] = [
        (b"", Code::NotAComponent),
        (b"\0asm\x0d\0\x01\0\xff", Code::Malformed),
        (b"\0asm\x0d\0\x01\0", Code::MissingExport),
    ];
    for (bytes, code) in bad {
        place.install("ticket", bytes);
        running.until(code.as_str(), |running| {
            let status = running.status("ticket");
            status.and_then(|status| status.error).is_some_and(|error| error.code() == code)
        });
        let status = running.status("ticket").unwrap();
        assert_eq!(status.state, State::Refused);
        assert_eq!(status.digest, Some(digest(&ticket("one"))), "which build is live");
        assert_eq!(status.candidate, Some(digest(bytes)), "which was refused");
        assert_eq!(running.value("DSH_TICKET").as_deref(), Some("one"));
        let overlay = running.host.registry().collect(&Execution::new("bash")).unwrap();
        assert!(overlay.degraded().is_empty(), "nothing is missing");
    }
    let file = installed(&place, "ticket");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).unwrap();
    running.until("unsafe-permissions", |running| {
        running.status("ticket").and_then(|status| status.error).is_some_and(|it| it.code() == Code::UnsafePermissions)
    });
    assert_eq!(running.value("DSH_TICKET").as_deref(), Some("one"));
    fs::remove_file(&file).unwrap();
    place.install("ticket", ticket("two"));
    running.until_value("DSH_TICKET", Some("two"));
}

#[test]
fn a_file_that_keeps_changing_is_loaded_when_it_rests_and_holds_nobody_up() {
    let place = Place::new();
    let running = Running::of(&place);
    place.install("ticket", ticket("one"));
    place.install("other", Guest::saying("other", &[("DSH_OTHER", "one")]).component());
    running.until_value("DSH_TICKET", Some("one"));
    running.until_value("DSH_OTHER", Some("one"));
    let stop = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let path = installed(&place, "ticket");
            let mut file = fs::File::create(&path).unwrap();
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                file.write_all(b"\0asm").unwrap();
                std::thread::sleep(Duration::from_millis(2));
            }
        });
        place.install("other", Guest::saying("other", &[("DSH_OTHER", "two")]).component());
        running.until_value("DSH_OTHER", Some("two"));
        assert_eq!(running.value("DSH_TICKET").as_deref(), Some("one"));
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    place.install("ticket", ticket("two"));
    running.until_value("DSH_TICKET", Some("two"));
}

#[test]
fn a_folder_that_vanishes_withdraws_nothing_and_is_followed_when_it_returns() {
    let place = Place::new();
    let running = Running::of(&place);
    place.install("ticket", ticket("one"));
    running.until_value("DSH_TICKET", Some("one"));
    let (folder, away) = (place.home().join("contributors"), place.home().join("away"));
    fs::rename(&folder, &away).unwrap();
    running.until("a problem", |running| !running.host.problems().is_empty());
    assert_eq!(running.value("DSH_TICKET").as_deref(), Some("one"));
    fs::rename(&away, &folder).unwrap();
    running.until("no problem", |running| running.host.problems().is_empty());
    place.install("ticket", ticket("two"));
    running.until_value("DSH_TICKET", Some("two"));
    // Gone, and made anew: another folder under the same path.
    fs::remove_dir_all(&folder).unwrap();
    fs::create_dir(&folder).unwrap();
    running.until_value("DSH_TICKET", None);
    place.install("ticket", ticket("three"));
    running.until_value("DSH_TICKET", Some("three"));
}

#[test]
fn many_that_change_at_once_all_take_effect() {
    let place = Place::new();
    let running = Running::of(&place);
    let install = |round: usize| {
        for number in 0..20 {
            let (name, key) = (format!("many-{number}"), format!("DSH_MANY_{number}"));
            let guest = Guest::saying(&name, &[(key.as_str(), &round.to_string())]);
            let new = place.write(&format!("home/contributors/.{name}"), guest.component());
            fs::rename(new, installed(&place, &name)).unwrap();
        }
    };
    for round in 0..3 {
        install(round);
        for number in 0..20 {
            running.until_value(&format!("DSH_MANY_{number}"), Some(&round.to_string()));
        }
    }
}
