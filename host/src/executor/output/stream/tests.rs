use std::fs::File;

use proptest::prelude::*;

use super::*;

const TAIL: usize = 50;

/// What happens to a stream: so many bytes are written, or it is read, or its file vanishes.
#[derive(Clone, Debug)]
enum Step {
    Write(usize),
    Read,
    LoseFile,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![4 => (1usize..120).prop_map(Step::Write), 3 => Just(Step::Read), 1 => Just(Step::LoseFile)];
    proptest::collection::vec(step, 1..40)
}

proptest! {
    #[test]
    fn reads_return_every_byte_once_or_count_it_as_lost(
        steps in steps(),
        spill_bytes in prop_oneof![Just(60u64), 60u64..400, Just(u64::MAX)],
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let parent = tempfile::tempdir().unwrap();
        let folder = Arc::new(SpillFolder::create_below(parent.path()).unwrap());
        let stream = Stream::bounded(TAIL, spill_bytes);
        let mut recorder = Recorder::new(Arc::clone(&stream), folder);
        let (mut all, mut read, mut lost) = (Vec::<u8>::new(), 0, false);
        let mut check_read = |all: &[u8], lost: bool| {
            let chunk = stream.after(read as u64);
            let start = read + usize::try_from(chunk.skipped).unwrap();
            let end = start + chunk.bytes.len();
            prop_assert_eq!(&chunk.bytes, &all[start..end]);
            prop_assert_eq!(chunk.pending, (all.len() - end) as u64);
            // Lost is only what neither file nor tail has.
            let in_file = if lost { 0 } else { usize::try_from(spill_bytes).unwrap_or(usize::MAX).min(all.len()) };
            prop_assert!(chunk.skipped == 0 || (read >= in_file && start == all.len().saturating_sub(TAIL)));
            prop_assert!(!chunk.bytes.is_empty() || read == all.len());
            read = end;
            Ok(read)
        };
        for step in steps {
            match step {
                Step::Write(length) => {
                    let bytes: Vec<u8> = (all.len()..all.len() + length).map(|n| (n % 251) as u8).collect();
                    all.extend(&bytes);
                    runtime.block_on(recorder.record(bytes, length));
                }
                Step::Read => {
                    check_read(&all, lost)?;
                }
                Step::LoseFile => {
                    lost |= stream.output().spill.is_some();
                    stream.forget();
                }
            }
            let output = stream.output();
            prop_assert_eq!(output.total, all.len() as u64);
            prop_assert_eq!(&output.tail, &all[all.len().saturating_sub(TAIL)..]);
            prop_assert_eq!(output.spill.is_some(), all.len() > TAIL);
            let fits = all.len() as u64 <= spill_bytes;
            prop_assert!(output.spill.as_ref().is_none_or(|spill| spill.complete == fits));
            if let Some(spill) = output.spill.filter(|_| !lost) {
                let most = usize::try_from(spill_bytes).unwrap_or(usize::MAX).min(all.len());
                prop_assert_eq!(&std::fs::read(spill.path).unwrap(), &all[..most]);
            }
        }
        while check_read(&all, lost)? < all.len() {}
    }
}

#[test]
fn a_disk_that_is_full_costs_the_file_and_nothing_else() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let parent = tempfile::tempdir().unwrap();
    let folder = Arc::new(SpillFolder::create_below(parent.path()).unwrap());
    let stream = Stream::bounded(TAIL, u64::MAX);
    let mut recorder = Recorder::new(Arc::clone(&stream), Arc::clone(&folder));
    runtime.block_on(recorder.record(vec![b'a'; 60], 60));
    let mut full = folder.create_file().unwrap();
    full.file = File::options().write(true).open("/dev/full").unwrap();
    recorder.file = SpillFile::Open(Arc::new(full));
    for _ in 0..2 {
        runtime.block_on(recorder.record(vec![b'b'; 60], 60));
    }
    let output = stream.output();
    assert_eq!((output.total, output.tail), (180, vec![b'b'; TAIL]));
    assert!(!output.spill.unwrap().complete);
    assert_eq!(stream.after(0).bytes, vec![b'a'; 60]);
    assert_eq!(stream.after(60), Chunk { bytes: vec![b'b'; TAIL], skipped: 70, pending: 0 });
}
