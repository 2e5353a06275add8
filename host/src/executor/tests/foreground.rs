use std::future::pending;

use super::support::{Fixture, LONG, bash};
use crate::executor::End;

#[tokio::test]
async fn the_exit_code_and_both_streams_are_returned() {
    let fixture = Fixture::in_host();
    let finished = fixture.executor.run(bash("echo out; echo err >&2; exit 7"), LONG, pending()).await.unwrap();
    assert_eq!(finished.end, End::Exited(7));
    assert_eq!(finished.stdout.tail, b"out\n");
    assert_eq!(finished.stderr.tail, b"err\n");
}
