//! The example that reads a repository, in the real command, in repositories that Git makes.

use super::*;
use std::path::Path;
use std::process::Command;

/// A place with a repository of one commit, and the example installed and granted it.
fn place() -> Place {
    let place = Place::new();
    place.install("git-workspace", std::fs::read(example("git-workspace")).unwrap());
    place.configure("[contributors.git-workspace]\ngrants = { workspace = \"repository\" }\n");
    git(&place, place.path(), &["init", "-q", "-b", "main", "repository"]);
    place.write("repository/src/deep/file", "content");
    commit(&place, &place.path().join("repository"));
    place
}

fn git(place: &Place, folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .args(arguments)
        .current_dir(folder)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("HOME", place.user_home())
        .envs([("GIT_AUTHOR_NAME", "a"), ("GIT_AUTHOR_EMAIL", "a@b"), ("GIT_COMMITTER_NAME", "a")])
        .envs([("GIT_COMMITTER_EMAIL", "a@b"), ("GIT_CONFIG_NOSYSTEM", "1")])
        .output()
        .unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

fn commit(place: &Place, folder: &Path) -> String {
    git(place, folder, &["add", "--all"]);
    git(place, folder, &["commit", "-q", "--allow-empty", "-m", "one"]);
    git(place, folder, &["rev-parse", "HEAD"])
}

/// What a command in a folder is told: branch and commit.
fn told(place: &Place, folder: &Path) -> [Option<String>; 2] {
    let run = place.run(["env", "--format", "json", "--workdir", folder.to_str().unwrap()]).expect(0);
    let env = run.json();
    ["DSH_GIT_BRANCH", "DSH_GIT_COMMIT"].map(|key| env.get(key).map(|value| value.as_str().unwrap().to_owned()))
}

#[test]
fn branch_and_commit_are_told_from_the_top_and_from_below() {
    let place = place();
    let repository = place.path().join("repository");
    let head = git(&place, &repository, &["rev-parse", "HEAD"]);
    let expected = [Some("main".to_owned()), Some(head)];
    assert_eq!(told(&place, &repository), expected);
    assert_eq!(told(&place, &repository.join("src/deep")), expected);
    git(&place, &repository, &["pack-refs", "--all"]);
    assert_eq!(told(&place, &repository), expected);
}

#[test]
fn a_linked_work_tree_has_its_own_branch_and_the_common_commits() {
    let place = place();
    let repository = place.path().join("repository");
    git(&place, &repository, &["worktree", "add", "-q", "-b", "side", "../linked"]);
    let linked = place.path().join("linked");
    let head = commit(&place, &linked);
    assert_eq!(told(&place, &linked.join("src")), [Some("side".to_owned()), Some(head)]);
    assert_eq!(told(&place, &repository)[0], Some("main".to_owned()));
}

#[test]
fn a_detached_head_has_a_commit_and_no_branch() {
    let place = place();
    let repository = place.path().join("repository");
    git(&place, &repository, &["checkout", "-q", "--detach"]);
    let head = git(&place, &repository, &["rev-parse", "HEAD"]);
    assert_eq!(told(&place, &repository), [None, Some(head)]);
}

#[test]
fn where_there_is_no_repository_or_one_of_another_format_nothing_is_told() {
    let place = place();
    let none = place.path().join("elsewhere");
    std::fs::create_dir(&none).unwrap();
    assert_eq!(told(&place, &none), [None, None]);
    git(&place, place.path(), &["init", "-q", "--ref-format=reftable", "tables"]);
    let tables = place.path().join("tables");
    commit(&place, &tables);
    assert_eq!(told(&place, &tables), [None, None]);
}

#[test]
fn without_the_grant_nothing_is_told() {
    let place = place();
    place.configure("");
    assert_eq!(told(&place, &place.path().join("repository")), [None, None]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_command_has_no_children_of_its_host() {
    let place = place();
    let repository = place.path().join("repository");
    let script = "echo branch=$DSH_GIT_BRANCH; cat /proc/$$/task/$$/children";
    let run = place.run(["exec", "--workdir", repository.to_str().unwrap(), "--", "bash", "-c", script]).expect(0);
    let stdout = run.stdout();
    let (branch, children) = stdout.split_once('\n').unwrap();
    assert_eq!(branch, "branch=main");
    // But for the `cat` that looks.
    assert!(children.split_whitespace().count() <= 1, "{children}");
}
