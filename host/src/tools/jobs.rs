//! `job_output` and `job_kill`: looking after what runs in the background.

use serde_json::{Value, json};

use super::arguments::{invalid, text};
use super::render;
use super::{Caller, ToolDescription, ToolResult, Tools};
use crate::error::{Code, Error, Result};
use crate::executor::{Chunk, JobCompleted, JobId, JobState, JobStatus};
use crate::text::{is_blank, shown_within};

/// The tool that reads what a job printed.
pub(super) const OUTPUT: &str = "job_output";

/// The tool that ends a job.
pub(super) const KILL: &str = "job_kill";

pub(super) fn describe_output() -> ToolDescription {
    describe(
        OUTPUT,
        "Returns what a background job has printed since it was last asked, and whether it still runs. Jobs are those of this session.",
    )
}

pub(super) fn describe_kill() -> ToolDescription {
    describe(KILL, "Ends a background job of this session and everything in its process group, and says how it ended.")
}

fn describe(name: &str, description: &str) -> ToolDescription {
    let parameters = json!({
        "type": "object",
        "properties": {"job": {"type": "string", "description": "The job, as the result that started it names it."}},
        "required": ["job"],
        "additionalProperties": false
    });
    ToolDescription { name: name.to_owned(), description: description.to_owned(), parameters }
}

/// A command that was started in the background.
pub(super) fn started(job: &JobId) -> ToolResult {
    let told = ToolResult::told(format!("[job {job} is started; {OUTPUT} reads what it prints, {KILL} ends it]"));
    ToolResult { job: Some(job.to_string()), ..told }
}

/// What a model is told when a job has ended.
#[must_use]
pub fn completion_notice(JobCompleted { status }: &JobCompleted) -> String {
    format!("[job {}: {}; {OUTPUT} reads what it printed]", status.job, state(&status.state))
}

impl Tools {
    pub(super) fn job_output(&self, caller: &Caller, arguments: &Value) -> Result<ToolResult> {
        let (owner, job) = (caller.owner(), job(arguments)?);
        // Where it is not known what must not be shown, nothing is: the job is only just being started.
        let withheld = self.shared.secrets.of_job(&owner, &job).ok_or_else(|| no_job(&job))?;
        let output = self.shared.executor.read(&owner, &job)?;
        let ended = !matches!(output.status.state, JobState::Running);
        let [stdout, stderr] = &mut *withheld.held();
        let mut parts = Vec::new();
        for (chunk, held, title) in [(&output.stdout, stdout, None), (&output.stderr, stderr, Some("standard error"))] {
            let last = ended && chunk.pending == 0;
            let (shown, lost) = match chunk.skipped {
                0 => (withheld.redact_piece(held, &chunk.bytes, last), 0),
                skipped => {
                    let (shown, more) = withheld.redact_after_gap(held, &chunk.bytes, last);
                    (shown, skipped + more as u64)
                }
            };
            parts.extend(printed(chunk, lost, title, &shown));
        }
        parts.push(format!("[{}]", state(&output.status.state)));
        Ok(about(&output.status, parts.join("\n")))
    }

    pub(super) async fn job_kill(&self, caller: &Caller, arguments: &Value) -> Result<ToolResult> {
        let (owner, job) = (caller.owner(), job(arguments)?);
        self.shared.secrets.of_job(&owner, &job).ok_or_else(|| no_job(&job))?;
        let status = self.shared.executor.kill(&owner, &job).await?;
        Ok(about(&status, format!("[job {}: {}]", status.job, state(&status.state))))
    }
}

/// What a stream has to say; nothing where it has not.
fn printed(chunk: &Chunk, lost: u64, title: Option<&str>, shown: &str) -> Option<String> {
    let mut lines = Vec::new();
    if lost > 0 {
        lines.push(format!("[{lost} bytes before this are lost: they came faster than they were read]"));
    }
    if !shown.is_empty() {
        lines.push(render::without_last_line_end(shown).to_owned());
    }
    if chunk.pending > 0 {
        lines.push(format!("[{} bytes more are there: call {OUTPUT} again]", chunk.pending));
    }
    if lines.is_empty() {
        return None;
    }
    Some(title.map(|title| format!("[{title}]")).into_iter().chain(lines).collect::<Vec<_>>().join("\n"))
}

fn about(status: &JobStatus, told: String) -> ToolResult {
    let ended = match &status.state {
        JobState::Ended(end) => Some(render::ended(*end)),
        JobState::Running | JobState::Lost(_) => None,
    };
    ToolResult { ended, job: Some(status.job.to_string()), ..ToolResult::told(told) }
}

fn state(state: &JobState) -> String {
    match state {
        JobState::Running => "it runs".to_owned(),
        JobState::Ended(end) => format!("it has ended: {end}"),
        JobState::Lost(error) => format!("how it ended is not known: {error}"),
    }
}

fn no_job(job: &JobId) -> Error {
    let message =
        format!("there is no job \"{}\" of this session: name one that was started", shown_within(job.as_str(), 64));
    Error::host(Code::JobNotFound, message)
}

/// The job that a model names.
fn job(arguments: &Value) -> Result<JobId> {
    let named = match arguments {
        Value::Object(arguments) => text(arguments, "job")?.filter(|job| !is_blank(job)),
        _ => None,
    };
    let job = named.ok_or_else(|| invalid("\"job\" is missing: send {\"job\": …} with the name that started it"))?;
    Ok(JobId::new(job))
}
