//! One command, from its start to its result.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use tokio::time::timeout;

use super::command::{Input, ShellCommand, failed};
use super::finished::{End, Exit, Finished};
use super::gate::{Gate, Pass};
use super::limits::{LOST_TIME, MAX_RUNNING, MAX_STARTING, TERM_GRACE};
use super::output::{SpillFolder, Stream, pump};
use super::pipes::{Ends, Pipes, feed};
use super::service::{NotStarted, Process, Service};
use super::spawn::explain;
use crate::error::Result;

/// What commands are started with.
#[derive(Debug)]
pub(super) struct Launcher {
    service: Service,
    spills: Arc<SpillFolder>,
    gate: Gate,
    starting: Semaphore,
    /// One for each foreground command that may run.
    pub(super) turns: Arc<Semaphore>,
}

/// That a command may be started now. Whatever it is handed to keeps it until the command has ended.
#[derive(Debug)]
pub(super) struct Admitted {
    pass: Pass,
    _turn: Option<OwnedSemaphorePermit>,
}

/// A command that runs.
#[derive(Debug)]
pub(super) struct Running {
    pub(super) stdout: Arc<Stream>,
    pub(super) stderr: Arc<Stream>,
    /// Ends it, when it is sent or dropped.
    pub(super) stop: oneshot::Sender<()>,
    pub(super) finished: oneshot::Receiver<Result<Finished>>,
}

impl Launcher {
    pub(super) fn new(service: Service, spills: SpillFolder) -> Self {
        Self {
            service,
            spills: Arc::new(spills),
            gate: Gate::new(),
            starting: Semaphore::new(MAX_STARTING),
            turns: Arc::new(Semaphore::new(MAX_RUNNING)),
        }
    }

    /// Admits a background job, of which there are not too many.
    ///
    /// # Errors
    /// `shutting-down`.
    pub(super) fn admit_job(&self) -> Result<Admitted> {
        Ok(Admitted { pass: self.gate.enter()?, _turn: None })
    }

    /// Waits until one more foreground command may run. Nothing is opened for it yet.
    ///
    /// # Errors
    /// `shutting-down`, also while it waits.
    pub(super) async fn admit_in_turn(&self) -> Result<Admitted> {
        let pass = self.gate.enter()?;
        let turn = tokio::select! {
            turn = Arc::clone(&self.turns).acquire_owned() => turn,
            () = pass.closing() => return Err(Gate::is_closed()),
        };
        // The semaphore is never closed.
        Ok(Admitted { pass, _turn: turn.ok() })
    }

    /// Starts a command, which then goes on in the background whether or not anybody waits.
    ///
    /// # Errors
    /// `execution-failed`, `environment-too-large`.
    pub(super) async fn launch(
        &self,
        admitted: Admitted,
        command: ShellCommand,
        limit: Option<Duration>,
    ) -> Result<Running> {
        let spec = command.spec()?;
        // The semaphore is never closed.
        let _starting = self.starting.acquire().await;
        let begun = Instant::now();
        let pipes = Pipes::open(&command.input)
            .map_err(|error| failed(format!("no pipe could be made for the command ({error}): see `ulimit -n`")))?;
        let process = match self.service.start(&spec, pipes.theirs).await {
            Ok(process) => process,
            Err(NotStarted::System(error)) => return Err(explain(&error, &command, &spec)),
            Err(NotStarted::Other(error)) => return Err(error),
        };
        let input = match command.input {
            Input::Bytes(bytes) => bytes,
            Input::Null => Vec::new(),
        };
        let (stop, stopped) = oneshot::channel();
        let (done, finished) = oneshot::channel();
        let (stdout, stderr) = (Stream::new(), Stream::new());
        let running = Running { stdout: Arc::clone(&stdout), stderr: Arc::clone(&stderr), stop, finished };
        let attended = Attended {
            process,
            pipes: pipes.ours,
            stdout,
            stderr,
            spills: Arc::clone(&self.spills),
            begun,
            limit,
            admitted,
        };
        tokio::spawn(async move {
            let _ = done.send(attended.attend(input, stopped).await);
        });
        Ok(running)
    }

    /// Ends every command and waits until all are gone. Nothing is started any more.
    pub(super) async fn shut_down(&self) {
        self.gate.close();
        self.gate.empty().await;
        self.service.close().await;
        self.spills.remove();
    }
}

/// What belongs to a command that runs.
struct Attended {
    process: Process,
    pipes: Ends,
    stdout: Arc<Stream>,
    stderr: Arc<Stream>,
    spills: Arc<SpillFolder>,
    begun: Instant,
    limit: Option<Duration>,
    admitted: Admitted,
}

impl Attended {
    async fn attend(self, input: Vec<u8>, stopped: oneshot::Receiver<()>) -> Result<Finished> {
        let Self { process, pipes, stdout, stderr, spills, begun, limit, admitted } = self;
        let (stdout_may_end, stdout_exited) = oneshot::channel();
        let (stderr_may_end, stderr_exited) = oneshot::channel();
        let process = async {
            let end = end_of(process, limit, stopped, &admitted.pass).await;
            let _ = (stdout_may_end.send(()), stderr_may_end.send(()));
            end
        };
        let all = async {
            tokio::join!(
                process,
                pump(pipes.stdout, Arc::clone(&stdout), Arc::clone(&spills), stdout_exited),
                pump(pipes.stderr, Arc::clone(&stderr), Arc::clone(&spills), stderr_exited),
            )
        };
        let (end, (), ()) = tokio::select! {
            all = all => all,
            // What the command does not read by its end is dropped with the pipe.
            never = feed(pipes.stdin, &input) => match never {},
        };
        Ok(Finished { end: end?, stdout: stdout.output(), stderr: stderr.output(), took: begun.elapsed() })
    }
}

/// Waits until a process ends, or has to.
async fn end_of(
    mut process: Process,
    limit: Option<Duration>,
    stopped: oneshot::Receiver<()>,
    pass: &Pass,
) -> Result<End> {
    let timed_out = async {
        match limit {
            Some(limit) => tokio::time::sleep(limit).await,
            None => std::future::pending().await,
        }
    };
    let is_late = tokio::select! {
        biased;
        exit = process.exit() => return exit.map(Exit::by_itself),
        () = timed_out => true,
        _ = stopped => false,
        () = pass.closing() => false,
    };
    process.end(TERM_GRACE);
    let exit = timeout(TERM_GRACE + LOST_TIME, process.exit()).await.unwrap_or_else(|_| {
        let waited = LOST_TIME.as_secs();
        Err(failed(format!(
            "how the command ended is not known: it was killed and has not gone for {waited} s, as one \
             that waits for a device that does not answer"
        )))
    })?;
    Ok(match (exit.ended_by, limit) {
        // It was faster.
        (None, _) => exit.by_itself(),
        (Some(signal), Some(limit)) if is_late => End::TimedOut { limit, signal },
        (Some(signal), _) => End::Cancelled { signal },
    })
}
