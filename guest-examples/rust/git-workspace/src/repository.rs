//! What is checked out, read from a Git directory as Git itself would read it, without running Git.
//!
//! Every read is bounded, and everything in the files is taken for what a stranger wrote: what is missing, malformed
//! or too large is not known, never an error.

use std::io::{self, BufRead, BufReader, Read};

/// HEAD and a loose ref are one line; a file beyond this is no ref.
const REF_LIMIT: u64 = 64 << 10;

/// A configuration holds a few lines for every branch that tracks another.
const CONFIG_LIMIT: u64 = 1 << 20;

/// Some 200,000 refs. Reading this much takes a part of the time that a call has.
const PACKED_LIMIT: u64 = 16 << 20;

/// Git's own bound on symbolic refs that lead to symbolic refs.
const LONGEST_CHAIN: usize = 5;

/// Where HEAD points in a repository whose refs are in a reftable: a name that no file can have, so that whoever
/// knows only files sees no repository.
const REFTABLE_HEAD: &str = "refs/heads/.invalid";

/// The files below `/gitdir` and `/gitcommon`.
pub trait Files {
    /// An open file.
    type File: Read;

    /// Opens a file for reading, by its absolute path.
    ///
    /// # Errors
    ///
    /// Whatever stands in the way; a folder may be opened and fail when it is read.
    fn open(&self, path: &str) -> io::Result<Self::File>;
}

/// What is checked out, as far as it is known.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct CheckedOut {
    /// The branch without `refs/heads/`.
    pub branch: Option<String>,
    /// The object id in lower-case hexadecimal digits.
    pub commit: Option<String>,
}

/// Reads what is checked out from `/gitdir`, this work tree's own Git directory, and `/gitcommon`, the one that it
/// shares with others. They are the same unless the work tree is a linked one.
pub fn checked_out(files: &impl Files) -> CheckedOut {
    let Some(head) = read_ref(files, "/gitdir/HEAD") else { return CheckedOut::default() };
    if !keeps_refs_in_files(files) {
        return CheckedOut::default();
    }
    follow(files, head).unwrap_or_default()
}

/// What a ref says: an object, or the name of another ref.
enum Ref {
    Object(String),
    Symbolic(String),
}

/// Follows HEAD to its end. `None` when it leads nowhere that Git would follow it to.
fn follow(files: &impl Files, head: Ref) -> Option<CheckedOut> {
    let mut name = match head {
        Ref::Object(commit) => return Some(CheckedOut { branch: None, commit: Some(commit) }),
        Ref::Symbolic(name) => name,
    };
    for _ in 0..LONGEST_CHAIN {
        if name == REFTABLE_HEAD || !is_ref_name(&name) {
            return None;
        }
        let commit = match lookup(files, &name) {
            Some(Ref::Symbolic(next)) => {
                name = next;
                continue;
            }
            Some(Ref::Object(commit)) => Some(commit),
            // Nothing is committed on this branch yet.
            None => None,
        };
        return Some(CheckedOut { branch: name.strip_prefix("refs/heads/").map(Into::into), commit });
    }
    None
}

/// Looks a ref up as Git does: its own file, else its line among the packed ones, where it stays when the file goes.
fn lookup(files: &impl Files, name: &str) -> Option<Ref> {
    // A work tree has these to itself and shares the rest.
    let own = ["refs/bisect/", "refs/worktree/", "refs/rewritten/"].iter().any(|prefix| name.starts_with(prefix));
    let folder = if own { "/gitdir" } else { "/gitcommon" };
    match read_bounded(files, &format!("{folder}/{name}"), REF_LIMIT) {
        // A damaged ref is not looked for elsewhere: what is packed is older.
        Ok(content) => parse_ref(&content),
        Err(error) if error.kind() == io::ErrorKind::FileTooLarge => None,
        Err(_) => packed(files, name).map(Ref::Object),
    }
}

/// Finds a ref's object in `packed-refs`: lines of an object id, a space and a name.
fn packed(files: &impl Files, name: &str) -> Option<String> {
    let file = files.open("/gitcommon/packed-refs").ok()?;
    let mut lines = BufReader::with_capacity(REF_LIMIT as usize, file.take(PACKED_LIMIT));
    let mut line = Vec::new();
    loop {
        line.clear();
        lines.by_ref().take(REF_LIMIT).read_until(b'\n', &mut line).ok()?;
        // The last line, one that was cut off, and one that is longer than any ref: nothing good follows them.
        let content = line.strip_suffix(b"\n")?;
        // Neither a heading (`#`) nor the object that a tag leads to (`^`) has a name behind the first space.
        if let Some(id) = content.strip_suffix(name.as_bytes()).and_then(|rest| rest.strip_suffix(b" ")) {
            return object_id(id);
        }
    }
}

/// Whether the refs are files, as they are where no configuration says otherwise.
fn keeps_refs_in_files(files: &impl Files) -> bool {
    match read_bounded(files, "/gitcommon/config", CONFIG_LIMIT) {
        Ok(config) => ref_storage(&String::from_utf8_lossy(&config)).is_none_or(|storage| storage == "files"),
        Err(error) => error.kind() != io::ErrorKind::FileTooLarge,
    }
}

/// The value of `extensions.refStorage`, the last one as in Git. Names of sections and settings know no case.
fn ref_storage(config: &str) -> Option<&str> {
    let mut in_extensions = false;
    let mut storage = None;
    for line in config.lines().map(str::trim) {
        let mut setting = line;
        if let Some((section, rest)) = line.strip_prefix('[').and_then(|line| line.split_once(']')) {
            in_extensions = section.trim().eq_ignore_ascii_case("extensions");
            setting = rest.trim();
        }
        if let Some((name, value)) = setting.split_once('=')
            && in_extensions
            && name.trim().eq_ignore_ascii_case("refstorage")
        {
            let value = value.split(['#', ';']).next().unwrap_or_default();
            storage = Some(value.trim().trim_matches('"'));
        }
    }
    storage
}

fn read_ref(files: &impl Files, path: &str) -> Option<Ref> {
    parse_ref(&read_bounded(files, path, REF_LIMIT).ok()?)
}

/// The whole content of a file, or `FileTooLarge` when it is longer than `limit`.
fn read_bounded(files: &impl Files, path: &str, limit: u64) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    let length = files.open(path)?.take(limit + 1).read_to_end(&mut content)?;
    if length as u64 > limit {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    Ok(content)
}

fn parse_ref(content: &[u8]) -> Option<Ref> {
    let content = content.trim_ascii_end();
    match content.strip_prefix(b"ref:") {
        Some(name) => Some(Ref::Symbolic(str::from_utf8(name.trim_ascii_start()).ok()?.into())),
        // Git ignores what stands behind the id.
        None => object_id(content.split(u8::is_ascii_whitespace).next()?).map(Ref::Object),
    }
}

/// An object id of SHA-1 or SHA-256, in lower case.
fn object_id(digits: &[u8]) -> Option<String> {
    let whole = matches!(digits.len(), 40 | 64) && digits.iter().all(u8::is_ascii_hexdigit);
    // The all-zero id is Git's word for no object.
    let some = digits.iter().any(|digit| *digit != b'0');
    (whole && some).then(|| String::from_utf8_lossy(digits).to_ascii_lowercase())
}

/// Whether Git would accept this name of a ref. No name that passes leads out of the folder it is looked up in.
fn is_ref_name(name: &str) -> bool {
    let forbidden = |c: char| c.is_ascii_control() || " ~^:?*[\\".contains(c);
    let component =
        |part: &str| !part.is_empty() && !part.starts_with('.') && !part.ends_with(".lock") && !part.contains("..");
    name.starts_with("refs/")
        && !name.ends_with('.')
        && !name.contains("@{")
        && !name.contains(forbidden)
        && name.split('/').all(component)
}

#[cfg(test)]
mod tests;
