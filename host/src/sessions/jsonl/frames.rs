//! Zstandard, one complete frame for each flush.
//!
//! A file of such frames is valid as a whole, and where a writer was killed the last frame is incomplete
//! and those before it are not. Each has a checksum, so that damage is noticed and not read.

use std::io::{self, Read, Write as _};
use std::ops::ControlFlow;

use zstd::stream::raw::{Decoder, Operation as _};

/// How hard to compress: the library's own choice, fast and good for text that repeats itself.
const LEVEL: i32 = zstd::DEFAULT_COMPRESSION_LEVEL;

/// Begins every frame that has content.
const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// How many bytes at the end of a frame are its checksum; before them there is no zero at the end of a frame.
pub(super) const CHECKSUM_BYTES: usize = 4;

/// How much is read, and how much decompressed, at a time.
const BLOCK: usize = 128 * 1024;

/// `text` as one frame.
pub(super) fn encode(text: &str) -> io::Result<Vec<u8>> {
    let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), LEVEL)?;
    encoder.include_checksum(true)?;
    encoder.write_all(text.as_bytes())?;
    encoder.finish()
}

/// The most bytes of a frame of so many bytes of text, which need not become smaller.
pub(super) fn longest(text: u64) -> u64 {
    /// More than the library's own bound adds at any length.
    const SHARE: u64 = 128;
    const FIXED: u64 = 1024;
    text.saturating_add(text / SHARE).saturating_add(FIXED)
}

/// What comes out of a file of frames.
pub(super) enum Piece<'a> {
    /// Some text.
    Text(&'a [u8]),
    /// A frame ended; so many bytes of the file are complete frames now.
    FrameEnd(u64),
}

/// Why there is no more.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum End {
    /// After a complete frame.
    Complete,
    /// Within a frame.
    Incomplete,
    /// What is next is no frame, or its content is damaged.
    Broken,
    /// Whoever took the pieces had enough.
    Stopped,
}

/// Decompresses frames, and hands each piece on until it is told to stop.
pub(super) fn decode<E: From<io::Error>>(
    mut file: impl Read,
    mut take: impl FnMut(Piece<'_>) -> Result<ControlFlow<()>, E>,
) -> Result<End, E> {
    let mut decoder = Decoder::new()?;
    let mut input = vec![0; BLOCK];
    let mut output = vec![0; BLOCK];
    let mut consumed = 0_u64;
    let mut within_frame = false;
    loop {
        let read = match file.read(&mut input) {
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error.into()),
        };
        if read == 0 {
            return Ok(if within_frame { End::Incomplete } else { End::Complete });
        }
        let mut rest = input.get(..read).unwrap_or_default();
        let mut more_output = false;
        while !rest.is_empty() || more_output {
            let Ok(status) = decoder.run_on_buffers(rest, &mut output) else { return Ok(End::Broken) };
            rest = rest.get(status.bytes_read..).unwrap_or_default();
            consumed += u64::try_from(status.bytes_read).unwrap_or(u64::MAX);
            let text = output.get(..status.bytes_written).unwrap_or_default();
            if !text.is_empty() && take(Piece::Text(text))?.is_break() {
                return Ok(End::Stopped);
            }
            within_frame = status.remaining != 0;
            // A full buffer may leave text in the decoder although there is no input left.
            more_output = within_frame && status.bytes_written == output.len();
            if !within_frame && take(Piece::FrameEnd(consumed))?.is_break() {
                return Ok(End::Stopped);
            }
        }
    }
}

/// How much is done to find a frame: a prepared file can have a beginning of one at every few bytes, each of
/// which leads to the end of the file.
#[derive(Debug)]
pub(super) struct Search {
    /// How many beginnings may still be looked at. In text there are none by chance.
    starts: usize,
    /// How many bytes may still be read or come out.
    bytes: u64,
}

impl Default for Search {
    fn default() -> Self {
        Self { starts: 64, bytes: 16 * 1024 * 1024 }
    }
}

impl Search {
    /// Whether there may be a complete frame anywhere after the first byte of `bytes`: then an incomplete
    /// frame at their beginning is no torn end but damage, which swallowed what follows. So it is where the
    /// search would take longer than what a writer leaves can take.
    pub(super) fn may_find_a_later_frame(&mut self, bytes: &[u8]) -> bool {
        let starts = bytes.windows(MAGIC.len()).enumerate().skip(1).filter(|(_, window)| *window == MAGIC);
        starts.into_iter().any(|(start, _)| self.may_be_a_frame(bytes.get(start..).unwrap_or_default()))
    }

    fn may_be_a_frame(&mut self, bytes: &[u8]) -> bool {
        let Some(starts) = self.starts.checked_sub(1) else { return true };
        self.starts = starts;
        let mut rest = bytes.take(self.bytes);
        let mut output = 0_u64;
        let allowed = self.bytes;
        let ended = decode(&mut rest, |piece| {
            if let Piece::Text(text) = piece {
                output = output.saturating_add(u64::try_from(text.len()).unwrap_or(u64::MAX));
            }
            let enough = matches!(piece, Piece::FrameEnd(_)) || output > allowed;
            Ok::<_, io::Error>(if enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        });
        let input = allowed.saturating_sub(rest.limit());
        self.bytes = allowed.saturating_sub(input.max(output));
        matches!(ended, Ok(End::Stopped)) || self.bytes == 0
    }
}

#[cfg(test)]
mod tests;
