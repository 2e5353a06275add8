use std::time::Duration;

use proptest::prelude::*;
use tokio::io::AsyncWriteExt as _;

use super::{Lines, Read};
use crate::protocol::LONG_LINE_BYTES;
use crate::server::limit::Limit;
use crate::server::long_lines::LongLines;

const PATIENCE: Duration = Duration::from_secs(60);

fn lines(input: &[u8], most: usize) -> Lines<&[u8]> {
    Lines::new(input, most, PATIENCE, LongLines::new(usize::MAX))
}

/// What is read until the end: each line, or the limit that it is over.
async fn all(mut lines: Lines<impl tokio::io::AsyncRead + Unpin>) -> Vec<Result<Vec<u8>, Limit>> {
    let mut read = Vec::new();
    loop {
        match lines.next().await.unwrap() {
            Read::Line(line) => read.push(Ok(line.bytes)),
            Read::TooLong(limit) => read.push(Err(limit)),
            Read::Unfinished => panic!("nothing waits here"),
            Read::End => return read,
        }
    }
}

#[tokio::test]
async fn a_line_that_is_too_long_is_told_of_before_it_ends() {
    let (mut client, server) = tokio::io::duplex(100);
    let mut lines = Lines::new(server, 10, PATIENCE, LongLines::new(0));
    client.write_all(b"0123456789a").await.unwrap();
    assert!(matches!(lines.next().await.unwrap(), Read::TooLong(Limit::LineBytes)));
    client.write_all(b"bc\nnext\n").await.unwrap();
    assert!(matches!(lines.next().await.unwrap(), Read::Line(line) if line.bytes == b"next"));
}

#[tokio::test]
async fn a_line_takes_no_more_memory_than_it_may_have() {
    let most = 1_000_000;
    let mut input = vec![b'x'; most];
    input.push(b'\n');
    let Read::Line(line) = lines(&input, most).next().await.unwrap() else { panic!("it fits") };
    assert_eq!((line.bytes.len(), line.bytes.capacity()), (most, most));
}

#[tokio::test]
async fn long_lines_give_their_memory_back() {
    let room = LongLines::new(4 * LONG_LINE_BYTES);
    let input = [vec![b'x'; 3 * LONG_LINE_BYTES], b"\n".to_vec()].concat();
    for _ in 0..3 {
        let mut one = Lines::new(input.as_slice(), usize::MAX, PATIENCE, room.clone());
        let mut other = Lines::new(input.as_slice(), usize::MAX, PATIENCE, room.clone());
        let Read::Line(line) = one.next().await.unwrap() else { panic!("there is room") };
        assert!(line.held.is_some());
        assert!(matches!(other.next().await.unwrap(), Read::TooLong(Limit::LongLinesBytes)));
    }
}

proptest! {
    #[test]
    fn lines_are_what_is_between_line_ends(parts in prop::collection::vec("[a-z]{0,40}", 0..20), most in 1_usize..40, ends: bool) {
        let mut input = parts.join("\n");
        if ends {
            input.push('\n');
        }
        let expected: Vec<_> = parts
            .iter()
            .filter(|part| !part.is_empty())
            .map(|part| if part.len() > most { Err(Limit::LineBytes) } else { Ok(part.clone().into_bytes()) })
            .collect();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        prop_assert_eq!(runtime.block_on(all(lines(input.as_bytes(), most))), expected);
    }
}
