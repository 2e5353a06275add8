//! Standard input and output as streams that nothing of the runtime waits for.
//!
//! They may be files, pipes or terminals, which no runtime can wait for alike: a thread each reads and writes.

use std::io::{self, Read, Write};
use std::thread;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, duplex};
use tokio::sync::{mpsc, oneshot};

/// How much is on its way at most, at each of its stations.
const BYTES: usize = 64 * 1024;

/// Waits until what went out is written.
#[derive(Debug)]
pub struct Written(oneshot::Receiver<()>);

impl Written {
    /// Waits until all that went out before the output was dropped is written, or cannot be.
    pub async fn wait(self) {
        // An error means that nobody writes any more.
        let _ = self.0.await;
    }
}

/// Standard input and output of this process, for [`Server::stdio`](super::Server::stdio). To be called once, on a
/// runtime; a process that is to end waits for [`Written`] before.
///
/// # Errors
/// What the system says where it has no more threads.
pub fn standard_streams() -> io::Result<(DuplexStream, DuplexStream, Written)> {
    let input = reading(io::stdin())?;
    let (output, written) = writing(io::stdout())?;
    Ok((input, output, written))
}

/// A stream of what a thread reads.
fn reading(mut from: impl Read + Send + 'static) -> io::Result<DuplexStream> {
    let (input, mut outside) = duplex(BYTES);
    let (chunks, mut received) = mpsc::channel(1);
    thread::Builder::new().name("dsh-env-input".to_owned()).spawn(move || {
        let mut buffer = vec![0; BYTES];
        loop {
            let chunk = match from.read(&mut buffer) {
                Ok(read) => buffer.get(..read).unwrap_or_default().to_vec(),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => {
                    tracing::debug!(%error, "standard input cannot be read");
                    return;
                }
            };
            if chunk.is_empty() || chunks.blocking_send(chunk).is_err() {
                return;
            }
        }
    })?;
    tokio::spawn(async move {
        while let Some(chunk) = received.recv().await {
            if outside.write_all(&chunk).await.is_err() {
                return;
            }
        }
    });
    Ok(input)
}

/// A stream of what a thread writes.
fn writing(mut to: impl Write + Send + 'static) -> io::Result<(DuplexStream, Written)> {
    let (output, mut outside) = duplex(BYTES);
    let (chunks, mut received) = mpsc::channel::<Vec<u8>>(1);
    let (done, written) = oneshot::channel();
    thread::Builder::new().name("dsh-env-output".to_owned()).spawn(move || {
        while let Some(chunk) = received.blocking_recv() {
            if let Err(error) = to.write_all(&chunk).and_then(|()| to.flush()) {
                tracing::debug!(%error, "standard output cannot be written");
                break;
            }
        }
        // Closed before anybody is told.
        drop(to);
        let _ = done.send(());
    })?;
    tokio::spawn(async move {
        let mut buffer = vec![0; BYTES];
        while let Ok(read @ 1..) = outside.read(&mut buffer).await {
            let chunk = buffer.get(..read).unwrap_or_default().to_vec();
            if chunks.send(chunk).await.is_err() {
                return;
            }
        }
    });
    Ok((output, Written(written)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_goes_in_comes_out_and_ends() {
        let ((from_test, to_server), (from_server, to_test)) = (io::pipe().unwrap(), io::pipe().unwrap());
        let sent: Vec<u8> = (0..1_000_000_u32).flat_map(u32::to_le_bytes).collect();
        let (to_send, mut to_server) = (sent.clone(), to_server);
        let sending = thread::spawn(move || to_server.write_all(&to_send));
        let receiving = thread::spawn(move || {
            let (mut received, mut from_server) = (Vec::new(), from_server);
            from_server.read_to_end(&mut received).map(|_| received)
        });
        let mut input = reading(from_test).unwrap();
        let (mut output, written) = writing(to_test).unwrap();
        tokio::io::copy(&mut input, &mut output).await.unwrap();
        drop(output);
        written.wait().await;
        sending.join().unwrap().unwrap();
        assert!(receiving.join().unwrap().unwrap() == sent);
    }

    #[tokio::test]
    async fn an_output_that_is_gone_is_told_to_whoever_writes() {
        let (gone, to_test) = io::pipe().unwrap();
        drop(gone);
        let (mut output, written) = writing(to_test).unwrap();
        while output.write_all(&[b'x'; BYTES]).await.is_ok() {}
        written.wait().await;
    }
}
