//! The nearest enclosing Git work tree, and its Git directories.
//!
//! A `.git` file and a `commondir` file name other directories, and strangers write them: whoever makes an
//! archive, or a folder in `/tmp`, could have the host show any directory of the user's. So what they name is
//! taken only if it is a Git directory that names this very work tree in turn. A stranger cannot have
//! written that, unless the directory is the stranger's own already.
//!
//! Directories on the way up are passed whoever they belong to, and on whatever filesystem they are: the first
//! that holds a repository is the nearest, and if that one may not be shown, nothing is.

use std::fs::symlink_metadata;
use std::path::Path;

use rustix::fs::FileType;

use super::Shown;
use super::directory::{Directory, Identity, shown_path};
use super::git_config;

/// How far up a work tree may begin: every step is a look at the file system, in every call.
const MAX_PARENTS: usize = 256;

/// What a work tree's own Git directory is called, or the file that names it.
const DOT_GIT: &str = ".git";

/// The folder of the Git directories of linked work trees, in the one that they have in common.
const LINKED: &str = "worktrees";

/// Opens the work tree that encloses a directory, its Git directory, and the one that it may have in common
/// with others.
///
/// # Errors
/// Why nothing is shown, in words.
pub(super) fn open(workdir: &Path, within: Option<&Path>) -> Result<Vec<Shown>, String> {
    // A path without links, so that its parents are those of the directory.
    let workdir =
        std::fs::canonicalize(workdir).map_err(|error| format!("{} cannot be found ({error})", shown_path(workdir)))?;
    for folder in workdir.ancestors().take(MAX_PARENTS) {
        let Some(kind) = look(&folder.join(DOT_GIT))? else { continue };
        let work_tree = Directory::open(folder, within)?;
        return match kind {
            DotGit::Directory => in_directory(work_tree, within),
            DotGit::File => named_by_file(work_tree, within),
        };
    }
    Err(format!("{} is in no Git work tree", shown_path(&workdir)))
}

enum DotGit {
    Directory,
    File,
}

/// What is at the path of a `.git`, if Git would take it for a sign of a repository.
fn look(path: &Path) -> Result<Option<DotGit>, String> {
    let Ok(metadata) = symlink_metadata(path) else { return Ok(None) };
    let kind = metadata.file_type();
    if kind.is_symlink() {
        return Err(format!("{} is a link, which is not followed", shown_path(path)));
    }
    if kind.is_file() {
        return Ok(Some(DotGit::File));
    }
    // Like Git, go on where it is something else: an empty folder for instance.
    let is_repository = kind.is_dir() && path.join("HEAD").symlink_metadata().is_ok();
    Ok(is_repository.then_some(DotGit::Directory))
}

/// A work tree whose Git directory is in it.
fn in_directory(work_tree: Directory, within: Option<&Path>) -> Result<Vec<Shown>, String> {
    let path = work_tree.path().join(DOT_GIT);
    let git = open_at(&path, within)?;
    is_git_directory(&git)?;
    if git.type_of("commondir").is_some() {
        return Err(format!("{} names another directory, which only linked work trees do", shown_path(&path)));
    }
    show_whole(work_tree, git, within)
}

/// A work tree with a file that names its Git directory: a linked one, a submodule, or one whose Git
/// directory was made elsewhere.
fn named_by_file(work_tree: Directory, within: Option<&Path>) -> Result<Vec<Shown>, String> {
    let file = work_tree.path().join(DOT_GIT);
    let text = work_tree.read(DOT_GIT)?.unwrap_or_default();
    let target = text
        .strip_prefix(b"gitdir: ")
        .filter(|target| !target.is_empty() && !target.contains(&0))
        .ok_or_else(|| format!("{} names no Git directory", shown_path(&file)))?;
    let git = Directory::open(&work_tree.join_line(target), within)?;
    if git.type_of("commondir").is_some() {
        let common = common_of_linked(&work_tree, &git, within)?;
        return Ok(show(work_tree, git, common));
    }
    is_git_directory(&git)?;
    let named = git_config::work_tree(&git)?.map(|value| git.join(&value));
    match named {
        Some(named) if Identity::at(&named) == Some(work_tree.identity()) => show_whole(work_tree, git, within),
        Some(_) => Err(format!("{} is the Git directory of another work tree", shown_path(git.path()))),
        None => Err(format!(
            "{} does not say that it is the Git directory of this work tree. If it is: git config core.worktree \"$PWD\"",
            shown_path(git.path())
        )),
    }
}

/// The Git directory that a linked work tree has in common with others: the one that its own is in, and that
/// it names.
fn common_of_linked(work_tree: &Directory, git: &Directory, within: Option<&Path>) -> Result<Directory, String> {
    let place = shown_path(git.path());
    if git.type_of("HEAD").is_none() {
        return Err(format!("{place} is no Git directory"));
    }
    let back = git.read("gitdir")?.map(|line| git.join_line(&line));
    let is_back = |back: &Path| {
        back.file_name().is_some_and(|name| name == DOT_GIT)
            && back.parent().and_then(Identity::at) == Some(work_tree.identity())
    };
    if !back.as_deref().is_some_and(is_back) {
        return Err(format!("{place} is not the Git directory of this work tree. If it is: git worktree repair"));
    }
    let parent = git.path().parent().filter(|parent| parent.file_name().is_some_and(|name| name == LINKED));
    let common = parent.and_then(Path::parent).ok_or_else(|| format!("{place} is not where linked work trees are"))?;
    let common = open_at(common, within)?;
    is_git_directory(&common)?;
    let named = git.read("commondir")?.map(|line| git.join_line(&line));
    if named.as_deref().and_then(Identity::at) != Some(common.identity()) {
        return Err(format!("{place} names another common directory than the one that it is in"));
    }
    Ok(common)
}

/// Opens the directory that is at a path without links, and not what has come there since.
fn open_at(path: &Path, within: Option<&Path>) -> Result<Directory, String> {
    let directory = Directory::open(path, within)?;
    if directory.path() == path {
        Ok(directory)
    } else {
        Err(format!("{} is a link, which is not followed", shown_path(path)))
    }
}

fn is_git_directory(git: &Directory) -> Result<(), String> {
    let has_head = matches!(git.type_of("HEAD"), Some(FileType::RegularFile | FileType::Symlink));
    if has_head && git.has_directory("objects") && git.has_directory("refs") {
        return Ok(());
    }
    Err(format!("{} is no Git directory", shown_path(git.path())))
}

/// Shows a Git directory that no other work tree shares.
fn show_whole(work_tree: Directory, git: Directory, within: Option<&Path>) -> Result<Vec<Shown>, String> {
    let common = open_at(git.path(), within)?;
    if common.identity() != git.identity() {
        return Err(format!("{} was replaced while it was looked at", shown_path(git.path())));
    }
    Ok(show(work_tree, git, common))
}

fn show(work_tree: Directory, git: Directory, common: Directory) -> Vec<Shown> {
    vec![work_tree.shown_as("/workspace"), git.shown_as("/gitdir"), common.shown_as("/gitcommon")]
}
