//! Reading a log from its file, compressed or not: what is whole, and how much of its end is torn.

use std::fs::File;
use std::io::{self, BufReader, Read as _, Seek as _, SeekFrom};
use std::ops::ControlFlow;
use std::path::Path;

use super::Compression;
use super::frames::{self, End, Piece, Search};
use crate::error::{Error, Result};
use crate::sessions::failure::{damaged, storage};
use crate::sessions::limits::{Limits, Size};
use crate::sessions::scan::Scan;
use crate::sessions::{Event, LogHeader};

/// How much is read at a time.
const BLOCK: usize = 128 * 1024;

/// What a file holds.
#[derive(Debug)]
pub(super) struct Read {
    pub(super) header: LogHeader,
    pub(super) events: Vec<Event>,
    /// How many bytes of the file are good; what is beyond is torn.
    pub(super) good: u64,
    /// How many bytes of the file are beyond.
    pub(super) torn: u64,
    /// The size of all good lines, not compressed.
    pub(super) expanded: Size,
}

/// Reads a whole log. Its file is not changed.
pub(super) fn log(file: &File, path: &Path, compression: Compression, limits: Limits) -> Result<Read> {
    let read = match compression {
        Compression::None => plain(file, limits),
        Compression::Zstd => compressed(file, limits),
    };
    read.map_err(|failure| failure.about(path))
}

/// Reads no more than the header.
pub(super) fn header(file: &File, path: &Path, compression: Compression, limits: Limits) -> Result<LogHeader> {
    first_line(file, compression, limits)
        .and_then(|line| {
            let mut scan = Scan::new(limits);
            scan.push(&line)?;
            Ok(scan.into_parts()?.0)
        })
        .map_err(|failure| failure.about(path))
}

/// What may go wrong: the system's side, and the log's.
enum Failure {
    Io(io::Error),
    Log(Error),
}

impl Failure {
    fn about(self, path: &Path) -> Error {
        match self {
            Self::Io(error) => storage(path, "read the log", &error),
            Self::Log(error) => error.in_file(path),
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Log(error)
    }
}

fn plain(mut file: &File, limits: Limits) -> Result<Read, Failure> {
    let mut scan = Scan::new(limits);
    let mut block = vec![0; BLOCK];
    let mut length = 0_u64;
    loop {
        let read = match file.read(&mut block) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error.into()),
        };
        scan.push(block.get(..read).unwrap_or_default())?;
        length += u64::try_from(read).unwrap_or(u64::MAX);
    }
    let expanded = scan.end;
    let good = expanded.bytes;
    let (header, events) = scan.into_parts()?;
    Ok(Read { header, events, good, torn: length.saturating_sub(good), expanded })
}

/// Where a file can be cut so that whole frames of whole lines are left.
#[derive(Clone, Copy)]
struct Cut {
    file: u64,
    expanded: Size,
    events: usize,
}

fn compressed(file: &File, limits: Limits) -> Result<Read, Failure> {
    let mut scan = Scan::new(limits);
    let mut cut = None;
    // Where the last complete frame ended, and how many events there were.
    let mut complete = (0, 0);
    let end = frames::decode(file, |piece| {
        match piece {
            Piece::Text(text) => scan.push(text)?,
            Piece::FrameEnd(file) => {
                complete = (file, scan.events.len());
                if scan.is_whole() {
                    cut = Some(Cut { file, expanded: scan.end, events: scan.events.len() });
                }
            }
        }
        Ok::<_, Failure>(ControlFlow::Continue(()))
    })?;
    // Another process may be writing: what was not read does not count.
    let length = if end == End::Complete { complete.0 } else { file.metadata()?.len().max(complete.0) };
    if !is_torn(end, file, complete.0, length, limits)? {
        return Err(damaged(format!(
            "the log is damaged after byte {}: its compressed content cannot be read",
            complete.0
        ))
        .into());
    }
    let Some(cut) = cut else { return Err(damaged("the log has no complete header").into()) };
    if complete.1 > cut.events {
        // Cutting there would lose events that were kept.
        return Err(
            damaged(format!("the log's last line goes beyond the frame that ends at byte {}", complete.0)).into()
        );
    }
    scan.events.truncate(cut.events);
    let (header, events) = scan.into_parts()?;
    Ok(Read { header, events, good: cut.file, torn: length.saturating_sub(cut.file), expanded: cut.expanded })
}

/// Whether what comes after the last complete frame is what an interrupted flush leaves: a part of one
/// frame, or the zeros of a file that had grown before its content arrived, or both; or nothing.
fn is_torn(end: End, mut file: &File, complete: u64, length: u64, limits: Limits) -> Result<bool, Failure> {
    if end == End::Complete {
        return Ok(true);
    }
    // No flush is larger: it is never more than the log may be.
    let most = frames::longest(limits.log);
    if length.saturating_sub(complete) > most {
        return Ok(false);
    }
    file.seek(SeekFrom::Start(complete))?;
    let mut rest = Vec::new();
    file.take(most).read_to_end(&mut rest)?;
    Ok(match end {
        End::Incomplete => !Search::default().may_find_a_later_frame(&rest),
        _ => is_torn_before_zeros(&rest)?,
    })
}

/// Whether there are zeros only, or a part of one frame and zeros after it.
fn is_torn_before_zeros(rest: &[u8]) -> Result<bool, Failure> {
    let zeros = rest.iter().rev().take_while(|byte| **byte == 0).count();
    let begun = rest.get(..rest.len().saturating_sub(zeros)).unwrap_or_default();
    if begun.is_empty() {
        return Ok(true);
    }
    // A checksum may end with some: to cut these off would make a whole frame that is damaged a torn one.
    if zeros <= frames::CHECKSUM_BYTES {
        return Ok(false);
    }
    let end = frames::decode(begun, |_| Ok::<_, Failure>(ControlFlow::Continue(())))?;
    Ok(end == End::Incomplete && !Search::default().may_find_a_later_frame(begun))
}

/// The first line of a log, with its newline, or as much as there is.
fn first_line(file: &File, compression: Compression, limits: Limits) -> Result<Vec<u8>, Failure> {
    let mut line = Vec::new();
    let mut take = |text: &[u8]| {
        let until = text.iter().position(|byte| *byte == b'\n');
        line.extend_from_slice(until.and_then(|end| text.get(..=end)).unwrap_or(text));
        let too_long = u64::try_from(line.len()).unwrap_or(u64::MAX) > limits.line;
        if until.is_some() || too_long { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    match compression {
        Compression::None => {
            use io::BufRead as _;
            let mut reader = BufReader::new(file);
            loop {
                let block = reader.fill_buf()?;
                let length = block.len();
                if length == 0 || take(block).is_break() {
                    break;
                }
                reader.consume(length);
            }
        }
        Compression::Zstd => {
            frames::decode(file, |piece| {
                Ok::<_, Failure>(match piece {
                    Piece::Text(text) => take(text),
                    Piece::FrameEnd(_) => ControlFlow::Continue(()),
                })
            })?;
        }
    }
    Ok(line)
}
