//! Ends of logs whose writer was killed.

use super::*;
use crate::error::Code;
use crate::sessions::limits::Limits;
use crate::sessions::tests::support::Numbers;

#[test]
fn a_log_that_ends_at_any_byte_of_its_last_flush_is_repaired() {
    for kind in KINDS {
        let place = Place::new();
        let (path, lengths) = three_flushes(kind, &place);
        let whole = fs::read(&path).unwrap();
        for end in lengths[1]..lengths[2] {
            fs::write(&path, &whole[..end]).unwrap();
            // Of a compressed log all of the last flush goes, of a plain one the last line.
            let good = match kind {
                Kind::Plain => whole[..end].iter().rposition(|byte| *byte == b'\n').unwrap() + 1,
                _ => lengths[1],
            };
            let kept = match kind {
                Kind::Plain => whole[..good].iter().filter(|byte| **byte == b'\n').count() - 1,
                _ => 6,
            };
            let loaded = load(kind, &place).unwrap();
            assert_eq!((loaded.events, loaded.torn), (events(kept), (end - good) as u64), "{kind:?} {end}");
            assert_eq!(fs::read(&path).unwrap(), whole[..end], "reading repairs nothing");
            let mut resumed = resume(kind, &place).unwrap();
            assert_eq!((&resumed.events, resumed.repaired), (&events(kept), (end - good) as u64), "{kind:?} {end}");
            assert_eq!(fs::read(&path).unwrap(), whole[..good], "{kind:?} {end}");
            append(resumed.log.as_mut(), &events(9)[kept..]);
            resumed.log.flush().unwrap();
            drop(resumed);
            let repaired = load(kind, &place).unwrap();
            assert_eq!((repaired.events, repaired.torn), (events(9), 0), "{kind:?} {end}");
        }
    }
}

#[test]
fn a_last_line_that_is_not_json_is_torn_and_one_before_is_damage() {
    let place = Place::new();
    let (path, lengths) = three_flushes(Kind::Plain, &place);
    let mut content = fs::read(&path).unwrap();
    content.extend_from_slice(b"{\"seq\":9,\"ty\0\0\0\n");
    fs::write(&path, &content).unwrap();
    assert_eq!(load(Kind::Plain, &place).unwrap().torn, 16);
    for follows in ["{", "\n", "{}\n"] {
        fs::write(&path, [&content, follows.as_bytes()].concat()).unwrap();
        let error = resume(Kind::Plain, &place).unwrap_err();
        assert_eq!(error.code(), Code::SessionDamaged);
        assert!(error.message().contains("line 11 is not JSON"), "{error}");
    }
    fs::write(&path, &content).unwrap();
    assert_eq!(resume(Kind::Plain, &place).unwrap().repaired, 16);
    assert_eq!(fs::read(&path).unwrap().len(), lengths[2]);
}

/// What a file system may leave that had made the file longer before the power failed.
#[test]
fn zeros_at_the_end_are_torn() {
    for kind in KINDS {
        for zeros in [1, 3, 4, 5, 17, 4096, 300_000] {
            let place = Place::new();
            let (path, lengths) = three_flushes(kind, &place);
            fs::write(&path, [fs::read(&path).unwrap(), vec![0; zeros]].concat()).unwrap();
            assert_eq!(resume(kind, &place).unwrap().repaired, zeros as u64, "{kind:?} {zeros}");
            assert_eq!(fs::read(&path).unwrap().len(), lengths[2]);
        }
    }
}

#[test]
fn a_part_of_the_last_flush_with_zeros_after_it_is_torn() {
    let place = Place::new();
    let (path, lengths) = three_flushes(Kind::Zstd, &place);
    let whole = fs::read(&path).unwrap();
    for end in lengths[1]..lengths[2] {
        for zeros in [5, 64, 4096] {
            fs::write(&path, [&whole[..end], &vec![0; zeros]].concat()).unwrap();
            let torn = (end - lengths[1] + zeros) as u64;
            assert_eq!(load(Kind::Zstd, &place).unwrap().torn, torn, "{end} {zeros}");
            let resumed = resume(Kind::Zstd, &place).unwrap();
            assert_eq!((resumed.events, resumed.repaired), (events(6), torn), "{end} {zeros}");
            assert_eq!(fs::read(&path).unwrap(), whole[..lengths[1]], "{end} {zeros}");
        }
    }
}

#[test]
fn zeros_do_not_make_damage_before_them_a_torn_end() {
    let place = Place::new();
    let (path, lengths) = three_flushes(Kind::Zstd, &place);
    let whole = fs::read(&path).unwrap();
    // The checksum of the last flush but one, and the whole last flush, are followed by zeros.
    let mut damaged = [whole, vec![0; 100]].concat();
    damaged[lengths[1] - 1] ^= 1;
    fs::write(&path, &damaged).unwrap();
    assert_eq!(resume(Kind::Zstd, &place).unwrap_err().code(), Code::SessionDamaged);
    assert_eq!(fs::read(&path).unwrap(), damaged);
    // A whole frame whose checksum became zeros.
    damaged.truncate(lengths[1]);
    damaged[lengths[1] - 4..].fill(0);
    fs::write(&path, &damaged).unwrap();
    assert_eq!(resume(Kind::Zstd, &place).unwrap_err().code(), Code::SessionDamaged);
    assert_eq!(fs::read(&path).unwrap(), damaged);
}

#[test]
fn a_header_is_never_torn_since_it_appears_whole() {
    for kind in KINDS {
        let place = Place::new();
        let (path, lengths) = three_flushes(kind, &place);
        let whole = fs::read(&path).unwrap();
        let header = match kind {
            Kind::Plain => whole.iter().position(|byte| *byte == b'\n').unwrap() + 1,
            _ => lengths[0],
        };
        for end in 0..header {
            fs::write(&path, &whole[..end]).unwrap();
            let error = resume(kind, &place).unwrap_err();
            assert_eq!(error.code(), Code::SessionDamaged, "{kind:?} {end}");
            assert_eq!(fs::read(&path).unwrap(), whole[..end], "what is left may help somebody");
        }
    }
}

/// Every few bytes begin a frame that goes on to the end. To try them all would take minutes.
#[test]
fn an_end_that_was_prepared_to_take_long_is_damage_and_is_left_alone() {
    let place = Place::new();
    let (path, _) = three_flushes(Kind::Zstd, &place);
    let beginning = [0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58, 6 << 3, 0, 0];
    let content = [fs::read(&path).unwrap(), beginning.repeat(1024 * 1024 / 9)].concat();
    fs::write(&path, &content).unwrap();
    let begun = std::time::Instant::now();
    for error in [load(Kind::Zstd, &place).unwrap_err(), resume(Kind::Zstd, &place).unwrap_err()] {
        assert_eq!(error.code(), Code::SessionDamaged);
    }
    assert!(begun.elapsed() < std::time::Duration::from_secs(60));
    assert_eq!(fs::read(&path).unwrap(), content);
}

#[test]
fn a_flush_as_large_as_a_log_may_be_is_torn_and_what_is_larger_is_damage() {
    let place = Place::new();
    let limits = Limits { log: 300_000, ..Limits::default() };
    let store = Kind::Zstd.store_with(&place.root(), limits);
    let mut log = store.create(&header("s1", Some("/srv"))).unwrap();
    log.flush().unwrap();
    let path = log.location().unwrap().path.clone();
    let header = fs::read(&path).unwrap().len();
    // Nearly what the log has room for, and of text that does not become much shorter.
    let mut large = event(0);
    large.fields.insert("large".to_owned(), Numbers(1).text(250_000).into());
    log.append(&large).unwrap();
    log.flush().unwrap();
    drop(log);
    let whole = fs::read(&path).unwrap();
    assert!(whole.len() > 200_000);
    fs::write(&path, &whole[..whole.len() - 1]).unwrap();
    let torn = store.load(&id("s1"), Project::Any).unwrap().torn;
    assert_eq!(torn, (whole.len() - 1 - header) as u64);

    let content = [&whole[..whole.len() - 1], &vec![0; 300_000]].concat();
    fs::write(&path, &content).unwrap();
    assert_eq!(store.resume(&id("s1"), Project::Any).unwrap_err().code(), Code::SessionDamaged);
    assert_eq!(fs::read(&path).unwrap(), content);
}
