use super::*;

/// The beginning of a frame, then blocks that are stored as they are. Each holds the beginning of another
/// frame that goes on with the next block, so that every beginning leads to the end.
fn nested_beginnings(length: usize) -> Vec<u8> {
    let beginning = [&MAGIC[..], &[0x00, 0x58]].concat();
    let stored_block = u32::try_from(beginning.len()).unwrap() << 3;
    [beginning, stored_block.to_le_bytes()[..3].to_vec()].concat().into_iter().cycle().take(length).collect()
}

#[test]
fn every_beginning_in_the_prepared_file_leads_to_its_end() {
    let bytes = nested_beginnings(900);
    for start in [0, 9, 450, 891] {
        let end = decode(&bytes[start..], |_| Ok::<_, io::Error>(ControlFlow::Continue(()))).unwrap();
        assert_eq!(end, End::Incomplete, "{start}");
    }
}

#[test]
fn the_search_for_a_later_frame_ends_after_bounded_work_and_answers_that_there_may_be_one() {
    let mut many_starts = Search::default();
    assert!(many_starts.may_find_a_later_frame(&nested_beginnings(4096)));
    assert_eq!(many_starts.starts, 0);
    assert!(many_starts.bytes > 0);

    let mut many_bytes = Search::default();
    assert!(many_bytes.may_find_a_later_frame(&nested_beginnings(4 * 1024 * 1024)));
    assert!(many_bytes.starts > 50, "a few of them were decoded: {many_bytes:?}");
    assert_eq!(many_bytes.bytes, 0);

    // Little that becomes much.
    let blocks_of_64_kib = [0x02, 0x00, 0x08, b'x'].repeat(1000);
    let mut expanding = Search::default();
    assert!(expanding.may_find_a_later_frame(&[b"x", &MAGIC[..], &[0x00, 0x58], &blocks_of_64_kib].concat()));
    assert_eq!((expanding.starts, expanding.bytes), (63, 0));
}

#[test]
fn a_later_frame_is_found_and_none_where_there_is_none() {
    let one = encode("{\"seq\":0}\n").unwrap();
    let torn = &one[..one.len() - 5];
    assert!(Search::default().may_find_a_later_frame(&[torn, &one].concat()));
    assert!(!Search::default().may_find_a_later_frame(torn));
    assert!(!Search::default().may_find_a_later_frame(&one), "what is at the beginning is not later");
    assert!(!Search::default().may_find_a_later_frame(&[torn, torn].concat()));
}

#[test]
fn no_frame_is_longer_than_the_longest() {
    let mut noise = 0x5e55_1045_u32;
    let mut text = String::new();
    while text.len() < 400_000 {
        noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        text.extend(char::from_u32(noise >> 11));
    }
    for length in [0, 1, 100, 1000, 131_071, 131_073, 400_000] {
        let length = text.floor_char_boundary(length);
        let frame = encode(&text[..length]).unwrap();
        assert!(frame.len() as u64 <= longest(length as u64), "{length}: {}", frame.len());
    }
}
