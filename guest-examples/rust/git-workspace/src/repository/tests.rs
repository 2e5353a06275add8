#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

const ID: &str = "0123456789abcdef0123456789abcdef01234567";
const OTHER_ID: &str = "fedcba9876543210fedcba9876543210fedcba98";

fn found(branch: &str, commit: &str) -> CheckedOut {
    CheckedOut { branch: Some(branch.into()), commit: Some(commit.into()) }
}

fn unborn(branch: &str) -> CheckedOut {
    CheckedOut { branch: Some(branch.into()), commit: None }
}

fn detached(commit: &str) -> CheckedOut {
    CheckedOut { branch: None, commit: Some(commit.into()) }
}

fn nothing() -> CheckedOut {
    CheckedOut::default()
}

// --- repositories that git makes -------------------------------------------------------------------------------------

/// A folder for one test, removed with it.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("git-workspace-{}-{number}", std::process::id()));
        fs::create_dir(&path).unwrap();
        Self(path)
    }

    /// A repository in it with `main` checked out and nothing committed.
    fn with_repository(options: &[&str]) -> Self {
        let folder = Self::new();
        assert!(folder.try_git(".", &[&["init", "--quiet", "--initial-branch=main"], options].concat()).is_some());
        folder
    }

    fn with_commit(options: &[&str]) -> Self {
        let folder = Self::with_repository(options);
        folder.git(&["commit", "--quiet", "--allow-empty", "--message=first"]);
        folder
    }

    fn git(&self, arguments: &[&str]) -> String {
        self.git_in(".", arguments)
    }

    fn git_in(&self, work_tree: &str, arguments: &[&str]) -> String {
        self.try_git(work_tree, arguments).unwrap_or_else(|| panic!("git {arguments:?} failed"))
    }

    /// Runs git without the settings of whoever runs the tests. `None` when it fails.
    fn try_git(&self, work_tree: &str, arguments: &[&str]) -> Option<String> {
        let mut git = Command::new("git");
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("GIT_")) {
            git.env_remove(name);
        }
        for role in ["AUTHOR", "COMMITTER"] {
            git.env(format!("GIT_{role}_NAME"), "Test").env(format!("GIT_{role}_EMAIL"), "test@example.invalid");
        }
        git.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
        let output = git.current_dir(self.0.join(work_tree)).args(arguments).output().unwrap();
        output.status.success().then(|| String::from_utf8(output.stdout).unwrap().trim().into())
    }

    /// What is checked out in a work tree, seen as the host shows it.
    fn checked_out(&self, work_tree: &str) -> CheckedOut {
        let tree = self.0.join(work_tree);
        let gitdir = tree.join(self.git_in(work_tree, &["rev-parse", "--git-dir"]));
        let gitcommon = tree.join(self.git_in(work_tree, &["rev-parse", "--git-common-dir"]));
        checked_out(&OnDisk { gitdir, gitcommon })
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

struct OnDisk {
    gitdir: PathBuf,
    gitcommon: PathBuf,
}

impl Files for OnDisk {
    type File = File;

    fn open(&self, path: &str) -> io::Result<File> {
        let path = Path::new(path);
        let real = match path.strip_prefix("/gitdir") {
            Ok(below) => self.gitdir.join(below),
            Err(_) => self.gitcommon.join(path.strip_prefix("/gitcommon").unwrap()),
        };
        File::open(real)
    }
}

#[test]
fn a_branch_and_its_commit_are_found() {
    let folder = Folder::with_commit(&[]);
    assert_eq!(folder.checked_out("."), found("main", &folder.git(&["rev-parse", "HEAD"])));
}

#[test]
fn a_branch_may_have_slashes_and_any_letters() {
    let folder = Folder::with_commit(&[]);
    folder.git(&["switch", "--quiet", "--create", "feature/größe-€"]);
    assert_eq!(folder.checked_out("."), found("feature/größe-€", &folder.git(&["rev-parse", "HEAD"])));
}

#[test]
fn a_branch_without_a_commit_has_no_commit() {
    assert_eq!(Folder::with_repository(&[]).checked_out("."), unborn("main"));
}

#[test]
fn a_detached_head_has_no_branch() {
    let folder = Folder::with_commit(&[]);
    folder.git(&["checkout", "--quiet", "--detach"]);
    assert_eq!(folder.checked_out("."), detached(&folder.git(&["rev-parse", "HEAD"])));
}

#[test]
fn packed_refs_are_found() {
    let folder = Folder::with_commit(&[]);
    folder.git(&["tag", "--annotate", "--message=v1", "v1"]);
    folder.git(&["branch", "other/main"]);
    folder.git(&["pack-refs", "--all"]);
    assert!(!folder.0.join(".git/refs/heads/main").exists());
    assert_eq!(folder.checked_out("."), found("main", &folder.git(&["rev-parse", "HEAD"])));
}

#[test]
fn a_loose_ref_is_newer_than_a_packed_one() {
    let folder = Folder::with_commit(&[]);
    folder.git(&["pack-refs", "--all"]);
    folder.git(&["commit", "--quiet", "--allow-empty", "--message=second"]);
    assert_eq!(folder.checked_out("."), found("main", &folder.git(&["rev-parse", "HEAD"])));
}

#[test]
fn a_linked_work_tree_has_a_head_of_its_own_and_shares_the_refs() {
    for packed in [false, true] {
        let folder = Folder::with_commit(&[]);
        folder.git(&["worktree", "add", "--quiet", "-b", "topic", "linked"]);
        folder.git_in("linked", &["commit", "--quiet", "--allow-empty", "--message=second"]);
        if packed {
            folder.git(&["pack-refs", "--all"]);
        }
        assert_eq!(folder.checked_out("."), found("main", &folder.git(&["rev-parse", "main"])));
        assert_eq!(folder.checked_out("linked"), found("topic", &folder.git(&["rev-parse", "topic"])));
    }
}

#[test]
fn a_symbolic_branch_is_followed_to_its_end() {
    let folder = Folder::with_commit(&[]);
    folder.git(&["symbolic-ref", "refs/heads/alias", "refs/heads/main"]);
    folder.git(&["symbolic-ref", "HEAD", "refs/heads/alias"]);
    assert_eq!(folder.git(&["branch", "--show-current"]), "main");
    assert_eq!(folder.checked_out("."), found("main", &folder.git(&["rev-parse", "HEAD"])));
}

#[test]
fn sha256_ids_have_64_digits() {
    let folder = Folder::with_commit(&["--object-format=sha256"]);
    for packed in [false, true] {
        if packed {
            folder.git(&["pack-refs", "--all"]);
        }
        let id = folder.git(&["rev-parse", "HEAD"]);
        assert_eq!(id.len(), 64);
        assert_eq!(folder.checked_out("."), found("main", &id));
    }
}

#[test]
fn a_reftable_is_not_read() {
    let folder = Folder::new();
    if folder.try_git(".", &["init", "--quiet", "--ref-format=reftable"]).is_none() {
        eprintln!("this git makes no reftable: left to the test that needs no git");
        return;
    }
    folder.git(&["commit", "--quiet", "--allow-empty", "--message=first"]);
    folder.git(&["worktree", "add", "--quiet", "-b", "topic", "linked"]);
    assert_eq!(folder.checked_out("."), nothing());
    assert_eq!(folder.checked_out("linked"), nothing());
}

// --- files that git would not make -----------------------------------------------------------------------------------

struct InMemory(BTreeMap<String, Vec<u8>>);

impl Files for InMemory {
    type File = Cursor<Vec<u8>>;

    fn open(&self, path: &str) -> io::Result<Self::File> {
        self.0.get(path).cloned().map(Cursor::new).ok_or(io::ErrorKind::NotFound.into())
    }
}

fn checked_out_of(files: &[(&str, &[u8])]) -> CheckedOut {
    checked_out(&InMemory(files.iter().map(|(path, content)| ((*path).into(), content.to_vec())).collect()))
}

/// With `main` checked out.
fn checked_out_with(path: &str, content: &[u8]) -> CheckedOut {
    checked_out_of(&[("/gitdir/HEAD", b"ref: refs/heads/main\n"), (path, content)])
}

#[test]
fn without_a_git_directory_nothing_is_known() {
    assert_eq!(checked_out_of(&[]), nothing());
}

#[test]
fn a_malformed_head_is_nothing() {
    let long = [b"ref: refs/heads/".as_slice(), &[b'a'; REF_LIMIT as usize]].concat();
    let heads: &[&[u8]] = &[
        b"",
        b"ref:",
        b"ref: ",
        b"ref: main",
        b"ref: refs/heads/",
        b"ref: refs/heads/../../config",
        b"ref: refs/heads/a..b",
        b"ref: refs/heads/.hidden",
        b"ref: refs/heads/a.lock",
        b"ref: refs/heads/a\0b",
        b"ref: refs/heads/a b",
        b"ref: refs/heads/a\nb",
        b"ref: refs/heads/\xff",
        b"ref: /etc/passwd",
        b"0123456789abcdef",
        b"0123456789abcdef0123456789abcdef0123456g",
        b"0000000000000000000000000000000000000000",
        &long,
    ];
    for head in heads {
        assert_eq!(checked_out_of(&[("/gitdir/HEAD", head)]), nothing(), "{}", String::from_utf8_lossy(head));
    }
}

#[test]
fn a_damaged_ref_is_a_branch_without_a_commit() {
    let huge = vec![b'0'; REF_LIMIT as usize + 1];
    for damage in [b"".as_slice(), b"garbage", b"0123", &huge] {
        let packed = format!("{OTHER_ID} refs/heads/main\n");
        let found = checked_out_of(&[
            ("/gitdir/HEAD", b"ref: refs/heads/main"),
            ("/gitcommon/refs/heads/main", damage),
            ("/gitcommon/packed-refs", packed.as_bytes()),
        ]);
        assert_eq!(found, unborn("main"));
    }
}

#[test]
fn a_chain_of_symbolic_refs_ends() {
    let loops = checked_out_with("/gitcommon/refs/heads/main", b"ref: refs/heads/main\n");
    assert_eq!(loops, nothing());
    let leaves = checked_out_with("/gitcommon/refs/heads/main", b"ref: ../../outside\n");
    assert_eq!(leaves, nothing());
}

#[test]
fn a_head_that_points_beside_the_branches_has_a_commit_alone() {
    let head = b"ref: refs/remotes/origin/main\n";
    let id = format!("{ID}\n");
    let found = checked_out_of(&[("/gitdir/HEAD", head), ("/gitcommon/refs/remotes/origin/main", id.as_bytes())]);
    assert_eq!(found, detached(ID));
}

#[test]
fn refs_of_one_work_tree_are_its_own() {
    let found = checked_out_of(&[
        ("/gitdir/HEAD", b"ref: refs/bisect/bad"),
        ("/gitdir/refs/bisect/bad", ID.as_bytes()),
        ("/gitcommon/refs/bisect/bad", OTHER_ID.as_bytes()),
    ]);
    assert_eq!(found, detached(ID));
}

#[test]
fn only_a_whole_line_of_packed_refs_is_one() {
    let packed = |content: &str| checked_out_with("/gitcommon/packed-refs", content.as_bytes());
    let heading = "# pack-refs with: peeled fully-peeled sorted \n";
    assert_eq!(packed(&format!("{heading}{ID} refs/heads/main\n^{OTHER_ID}\n")), found("main", ID));
    assert_eq!(packed(&format!("{ID} refs/heads/main")), unborn("main"), "cut off");
    assert_eq!(packed(&format!("{ID} refs/heads/main2\n{ID} refs/heads/mai\n")), unborn("main"));
    assert_eq!(packed("refs/heads/main\n"), unborn("main"));
    assert_eq!(packed("abc refs/heads/main\n"), unborn("main"));
    let long = "a".repeat(REF_LIMIT as usize);
    assert_eq!(packed(&format!("{long}\n{ID} refs/heads/main\n")), unborn("main"), "a line too long to be a ref");
}

#[test]
fn packed_refs_are_read_up_to_a_bound() {
    let line = format!("{OTHER_ID} refs/tags/some-tag-of-many\n");
    let wanted = format!("{ID} refs/heads/main\n");
    let within = line.repeat(PACKED_LIMIT as usize / line.len() - 2) + &wanted;
    assert_eq!(checked_out_with("/gitcommon/packed-refs", within.as_bytes()), found("main", ID));
    let beyond = line.repeat(PACKED_LIMIT as usize / line.len() + 1) + &wanted;
    assert_eq!(checked_out_with("/gitcommon/packed-refs", beyond.as_bytes()), unborn("main"));
}

#[test]
fn other_storage_of_refs_than_files_is_not_read() {
    let with = |config: &str| {
        checked_out_of(&[
            ("/gitdir/HEAD", b"ref: refs/heads/main"),
            ("/gitcommon/refs/heads/main", ID.as_bytes()),
            ("/gitcommon/config", config.as_bytes()),
        ])
    };
    assert_eq!(with("[core]\n\tbare = false\n[extensions]\n\trefstorage = reftable\n"), nothing());
    assert_eq!(with("[Extensions] RefStorage=\"reftable\" ; why\n"), nothing());
    assert_eq!(with("[extensions]\n\trefStorage = files\n"), found("main", ID));
    assert_eq!(with("[other]\n\trefstorage = reftable\n"), found("main", ID));
    assert_eq!(with("# [extensions]\n#refstorage = reftable\n"), found("main", ID));
    assert_eq!(with(&"# ".repeat(CONFIG_LIMIT as usize)), nothing(), "a configuration too large to know");
    assert_eq!(checked_out_of(&[("/gitdir/HEAD", b"ref: refs/heads/.invalid\n")]), nothing());
}
