//! What a hook's exit status and output mean.
//!
//! - Exit 0: output that is a JSON object is [read leniently](json); other output is plain text, which is
//!   context where the event takes any, and nothing elsewhere.
//! - Exit 2: it blocks, with standard error as the reason, and standard output is not looked at.
//! - Anything else, a signal and a limit that ran out among it: nothing is blocked, and it is reported.

mod json;
mod readable;

use serde_json::Value;

use super::merge::Verdict;
use super::{Decision, Dialect, EventName, HookEnd, HookRun};
use readable::readable;

/// The exit status that blocks.
const BLOCKS: i32 = 2;

/// The reason of a hook that blocked and gave none.
const NO_REASON: &str = "a hook blocked this and did not say why";

/// The most bytes of a reason, or of a message for a person.
const MAX_TEXT: usize = 8 * 1024;

/// The most bytes of standard error that a report repeats.
const MAX_REPEATED: usize = 512;

/// How the answers to one event are read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reading {
    pub(super) dialect: Dialect,
    pub(super) event: EventName,
    /// Whether a hook that blocks without a reason does block.
    pub(super) block_without_reason: bool,
}

/// What one hook said, and what was wrong with how it said it.
#[derive(Debug, Default)]
pub(super) struct Answer {
    pub(super) verdict: Verdict,
    pub(super) problems: Vec<String>,
}

impl Reading {
    /// Reads what a command did.
    pub(super) fn read(self, run: &HookRun) -> Answer {
        let mut answer = Answer::default();
        match run.end {
            HookEnd::Exited(0) => match &run.stdout {
                Some(stdout) => self.output(&String::from_utf8_lossy(stdout), &mut answer),
                None => answer.problem("it wrote more to standard output than is kept, so that nothing of it counts"),
            },
            HookEnd::Exited(BLOCKS) => self.block(&String::from_utf8_lossy(&run.stderr), &mut answer),
            HookEnd::Exited(status) => answer.failed(&format!("it exited with {status}, which blocks nothing"), run),
            HookEnd::Signalled(signal) => answer.failed(&format!("it was ended by signal {signal}"), run),
            HookEnd::TimedOut => answer.failed("it took longer than it may", run),
            HookEnd::Cancelled => answer.problem("it was cancelled"),
            HookEnd::NotStarted => answer.problem("it was not started"),
        }
        answer
    }

    fn output(self, stdout: &str, answer: &mut Answer) {
        let text = stdout.trim();
        match serde_json::from_str(text) {
            Ok(Value::Object(object)) => self.object(&object, answer),
            _ if self.dialect == Dialect::Codex && text.starts_with(['{', '[']) => {
                answer
                    .problem("what it wrote looks like JSON and is not one JSON object, so that nothing of it counts");
            }
            _ if self.event.takes_plain_text() && !text.is_empty() => {
                answer.verdict.additional_context = Some(text.to_owned());
            }
            _ => {}
        }
    }

    /// Blocks with a reason, which may be blank.
    fn block(self, reason: &str, answer: &mut Answer) {
        let reason = readable(reason, MAX_TEXT);
        if !self.event.can_be_blocked() {
            let said = if reason.is_empty() { String::new() } else { format!(": {reason}") };
            return answer.problem(&format!("it blocks {}, which cannot be blocked{said}", self.event));
        }
        if reason.is_empty() && !self.block_without_reason {
            return answer.problem("it blocks without a reason, so that nothing is blocked");
        }
        answer.verdict.decision = Decision::Deny;
        answer.verdict.reason = Some(if reason.is_empty() { NO_REASON.to_owned() } else { reason });
    }
}

impl Answer {
    fn problem(&mut self, problem: &str) {
        self.problems.push(problem.to_owned());
    }

    fn failed(&mut self, what: &str, run: &HookRun) {
        let said = readable(&String::from_utf8_lossy(&run.stderr), MAX_REPEATED);
        self.problem(&if said.is_empty() { what.to_owned() } else { format!("{what}: {said}") });
    }
}
