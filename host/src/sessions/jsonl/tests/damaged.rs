//! Logs that are damaged before their end: reported, and left as they are.

use super::*;
use crate::error::Code;

const HEADER: &str = r#"{"type":"session","version":0,"id":"s1","createdAt":1,"cwd":"/srv","delegationDepth":0}"#;
const EVENTS: [&str; 3] =
    [r#"{"seq":0,"type":"a","at":1}"#, r#"{"seq":1,"type":"b","at":1}"#, r#"{"seq":2,"type":"c","at":1}"#];

fn log_of(lines: &[&str]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// Asks for a damaged log in every way; it must stay as it is.
fn error_of(kind: Kind, content: &[u8]) -> crate::Error {
    let place = Place::new();
    let path = place_log(kind, &place, content);
    let error = load(kind, &place).unwrap_err();
    assert_eq!(resume(kind, &place).unwrap_err(), error);
    assert_eq!(fs::read(&path).unwrap(), content);
    assert!(error.message().starts_with(path.to_str().unwrap()), "{error}");
    error
}

#[test]
fn damage_is_reported_with_its_line() {
    let [one, two, three] = EVENTS;
    for (lines, message) in [
        (vec![HEADER, one, "not json", three], "line 3 is not JSON"),
        (vec![HEADER, one, "", three], "line 3 is not JSON"),
        (vec![HEADER, one, three], "line 3 is event 2 where event 1 has to be"),
        (vec![HEADER, two], "line 2 is event 1 where event 0 has to be"),
        (vec![HEADER, one, one], "line 3 is event 0 where event 1 has to be"),
        (vec![HEADER, one, HEADER], "line 3: there is a second header"),
        (vec![HEADER, one, "[]"], "line 3: the event is not an object"),
        (vec![HEADER, one, r#"{"seq":1}"#], "line 3: the event has no valid at"),
        (vec![HEADER, one, &"[".repeat(300).add_closing()], "line 3 is more than can be read"),
        (vec![one, two], "line 1: its first line is not the header"),
        (vec!["", HEADER], "line 1 is not JSON"),
        (vec![], "no complete header"),
    ] {
        let content = log_of(&lines);
        for (kind, content) in [
            (Kind::Plain, content.clone().into_bytes()),
            (Kind::Zstd, zstd::encode_all(content.as_bytes(), 3).unwrap()),
        ] {
            let error = error_of(kind, &content);
            assert_eq!(error.code(), Code::SessionDamaged, "{error}");
            assert!(error.message().contains(message), "{error}");
        }
    }
}

trait AddClosing {
    fn add_closing(&self) -> String;
}

impl AddClosing for String {
    fn add_closing(&self) -> String {
        format!("{self}{}", "]".repeat(self.len()))
    }
}

#[test]
fn a_log_of_a_later_version_asks_for_an_upgrade() {
    let content = log_of(&[&HEADER.replace("\"version\":0", "\"version\":1"), "whatever is new"]);
    let error = error_of(Kind::Plain, content.as_bytes());
    assert_eq!(error.code(), Code::SessionVersion);
    assert!(error.message().contains("upgrade dsh-env"), "{error}");
}

#[test]
fn what_a_message_shows_cannot_steer_a_terminal() {
    let error = error_of(Kind::Plain, b"{\"type\":\"\x1b[31m\"}\n\x1b[31m\n");
    assert!(!error.message().contains('\x1b'));
}

#[test]
fn a_log_that_is_not_compressed_as_its_name_says_is_damage() {
    let plain = log_of(&[HEADER, EVENTS[0]]).into_bytes();
    let compressed = zstd::encode_all(plain.as_slice(), 3).unwrap();
    assert_eq!(error_of(Kind::Zstd, &plain).code(), Code::SessionDamaged);
    assert_eq!(error_of(Kind::Plain, &compressed).code(), Code::SessionDamaged);
}

#[test]
fn a_flipped_bit_before_the_last_flush_is_damage_or_changes_nothing() {
    let place = Place::new();
    let (path, lengths) = three_flushes(Kind::Zstd, &place);
    let whole = fs::read(&path).unwrap();
    let mut refused = 0;
    for position in 0..lengths[1] {
        for bit in 0..8 {
            let mut content = whole.clone();
            content[position] ^= 1 << bit;
            fs::write(&path, &content).unwrap();
            match load(Kind::Zstd, &place) {
                Ok(loaded) => assert_eq!((loaded.events, loaded.torn), (events(9), 0), "{position} {bit}"),
                Err(error) => {
                    assert_eq!(error.code(), Code::SessionDamaged, "{position} {bit}: {error}");
                    refused += 1;
                }
            }
        }
    }
    assert!(refused > 7 * lengths[1], "{refused} of {}", 8 * lengths[1]);
}

#[test]
fn a_frame_without_an_end_that_has_others_after_it_is_damage_and_not_torn() {
    let place = Place::new();
    let (path, lengths) = three_flushes(Kind::Zstd, &place);
    let whole = fs::read(&path).unwrap();
    let content = [&whole[..lengths[1] - 5], &whole[lengths[1]..]].concat();
    fs::write(&path, &content).unwrap();
    assert_eq!(resume(Kind::Zstd, &place).unwrap_err().code(), Code::SessionDamaged);
    assert_eq!(fs::read(&path).unwrap(), content);
}

/// Another program may compress otherwise; as long as lines are whole where frames are, it does not matter.
#[test]
fn frames_of_other_programs_are_read() {
    let frame = |text: &str| zstd::encode_all(text.as_bytes(), 19).unwrap();
    let [one, two, three] = EVENTS.map(|event| format!("{event}\n"));
    let header = format!("{HEADER}\n");
    let skippable = [&[0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0][..], b"any"].concat();
    let (begin, end) = one.split_at(7);
    for content in [
        frame(&[&*header, &one, &two, &three].concat()),
        [frame(&header), frame(""), frame(&one), skippable, frame(&two), frame(&three)].concat(),
        [frame(&[&header, begin].concat()), frame(end), frame(&[&*two, &three].concat())].concat(),
    ] {
        let place = Place::new();
        place_log(Kind::Zstd, &place, &content);
        let loaded = load(Kind::Zstd, &place).unwrap();
        assert_eq!((loaded.events.len(), loaded.torn), (3, 0));
    }
    // Cutting at the last whole frame of whole lines would take the first event with it.
    let content = [frame(&header), frame(&[&*one, &two[..9]].concat())].concat();
    assert!(error_of(Kind::Zstd, &content).message().contains("beyond the frame"));
}
