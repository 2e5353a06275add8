//! What a guest prints.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use wasmtime_wasi::async_trait;
use wasmtime_wasi::cli::{IsTerminal, StdoutStream};
use wasmtime_wasi::p2::pipe::MemoryOutputPipe;
use wasmtime_wasi::p2::{OutputStream, Pollable, StreamResult};

/// The most bytes of one write; wasmtime-wasi's own default for other streams.
const MAX_WRITE_BYTES: usize = 64 * 1024;

/// The start of what a guest printed, up to a number of bytes. The rest is dropped: a guest that prints too
/// much is no failure.
#[derive(Clone)]
pub(in crate::sandbox) struct Log {
    printed: Arc<Mutex<Vec<u8>>>,
    limit: usize,
}

impl Log {
    pub(in crate::sandbox) fn new(limit: usize) -> Self {
        Self { printed: Arc::default(), limit }
    }

    /// What was printed so far, invalid UTF-8 replaced, and nothing from now on.
    pub(in crate::sandbox) fn take(&self) -> String {
        let printed = std::mem::take(&mut *self.printed.lock().unwrap_or_else(PoisonError::into_inner));
        String::from_utf8_lossy(&printed).into_owned()
    }

    fn append(&self, bytes: &[u8]) {
        let mut printed = self.printed.lock().unwrap_or_else(PoisonError::into_inner);
        let room = self.limit.saturating_sub(printed.len());
        printed.extend_from_slice(bytes.get(..room).unwrap_or(bytes));
    }
}

impl IsTerminal for Log {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for Log {
    fn p2_stream(&self) -> Box<dyn OutputStream> {
        Box::new(self.clone())
    }

    /// For WASI 0.3, which is not linked.
    fn async_stream(&self) -> Box<dyn tokio::io::AsyncWrite + Send + Sync> {
        MemoryOutputPipe::new(0).async_stream()
    }
}

impl OutputStream for Log {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        self.append(&bytes);
        Ok(())
    }

    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        Ok(MAX_WRITE_BYTES)
    }
}

#[async_trait]
impl Pollable for Log {
    async fn ready(&mut self) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_keeps_its_start_and_drops_the_rest() {
        let mut log = Log::new(5);
        for part in ["abc", "def", "ghi"] {
            log.write(Bytes::from_static(part.as_bytes())).unwrap();
        }
        assert_eq!(log.take(), "abcde");
        assert_eq!(Log::new(0).take(), "");
    }

    #[test]
    fn a_character_that_is_cut_in_two_does_not_spoil_the_log() {
        let mut log = Log::new(2);
        log.write(Bytes::from_static("aé".as_bytes())).unwrap();
        assert_eq!(log.take(), "a\u{fffd}");
    }
}
