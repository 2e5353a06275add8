//! Writers in processes of their own: this very test program, started again for one test.

use std::io::{BufRead as _, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use super::support::{Kind, Numbers, Place, event, header, id};
use crate::error::Code;
use crate::sessions::{Event, Project, SessionStore};

/// What a child is to do: which store, which root, which session.
const TASK: &str = "TEST_SESSIONS_CHILD";

/// In front of every number that is acknowledged; the test program prints lines of its own too.
const ACKNOWLEDGED: &str = "kept ";

/// Event `seq` of these writers: from a byte to some thousand, not to be compressed away.
pub(super) fn written(seq: usize) -> Event {
    let mut numbers = Numbers(seq as u64 + 1);
    let length = numbers.below(3000) as usize;
    let mut event = event(seq);
    event.fields.insert("noise".to_owned(), numbers.text(length).into());
    event
}

/// Goes on with a session, or begins it, and says of each event when it is kept; `count` of them.
fn write(store: &dyn SessionStore, session: &str, count: usize, output: &mut dyn Write) {
    let (first, mut log) = match store.resume(&id(session), Project::Any) {
        Ok(resumed) => (resumed.events.len(), resumed.log),
        Err(error) => {
            assert_eq!(error.code(), Code::SessionNotFound, "{error}");
            (0, store.create(&header(session, Some("/srv"))).unwrap())
        }
    };
    for seq in (first..).take(count) {
        log.append(&written(seq)).unwrap();
        log.flush().unwrap();
        // At once, or the reader does not know of it when the process is killed.
        writeln!(output, "\n{ACKNOWLEDGED}{seq}").unwrap();
        output.flush().unwrap();
    }
}

#[test]
fn a_writer_says_what_it_kept() {
    if let Ok(task) = std::env::var(TASK) {
        let [kind, session, root] = task.splitn(3, ':').collect::<Vec<_>>().try_into().unwrap();
        write(Kind::named(kind).store(Path::new(root)).as_ref(), session, usize::MAX, &mut std::io::stdout().lock());
        return;
    }
    let place = Place::new();
    for kind in Kind::ALL {
        let mut output = Vec::new();
        write(kind.store(&place.root()).as_ref(), "s1", 2, &mut output);
        write(kind.store(&place.root()).as_ref(), "s1", 1, &mut output);
        assert_eq!(output, b"\nkept 0\n\nkept 1\n\nkept 2\n");
        std::fs::remove_dir_all(place.root()).unwrap();
    }
}

/// A writer that writes until it is killed; at the latest when this is dropped.
pub(super) struct Writer {
    child: Child,
    output: BufReader<ChildStdout>,
}

impl Writer {
    pub(super) fn start(kind: Kind, root: &Path, session: &str) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "sessions::tests::child::a_writer_says_what_it_kept", "--nocapture"])
            .env(TASK, format!("{}:{session}:{}", kind.name(), root.display()))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        Self { child, output }
    }

    /// The next event that is kept, waiting for it; `None` when the writer is gone.
    pub(super) fn next(&mut self) -> Option<usize> {
        loop {
            let mut line = String::new();
            self.output.read_line(&mut line).unwrap();
            if line.is_empty() {
                return None;
            }
            // A line that was cut by the kill is no acknowledgement.
            let number = line.strip_prefix(ACKNOWLEDGED).and_then(|number| number.strip_suffix('\n'));
            if let Some(number) = number {
                return Some(number.parse().unwrap());
            }
        }
    }

    /// Ends the writer at once. Answers with the last event that it acknowledged since.
    pub(super) fn kill(mut self) -> Option<usize> {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        std::iter::from_fn(|| self.next()).last()
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
