//! What Git itself makes.

use super::*;

/// What is shown of an ordinary repository.
fn whole(work_tree: &Path, git: &Path) -> [(&'static str, PathBuf); 3] {
    [("/workspace", work_tree.into()), ("/gitdir", git.into()), ("/gitcommon", git.into())]
}

#[test]
fn an_ordinary_repository_is_shown_from_anywhere_in_it() {
    let place = Place::new();
    let repository = place.repository("ours");
    let git = repository.join(".git");
    for folder in [repository.clone(), place.folder("ours/a/b/c"), git.join("hooks")] {
        assert_eq!(repository_of(&folder).unwrap(), whole(&repository, &git), "{folder:?}");
    }
    std::os::unix::fs::symlink(place.path("ours/a"), place.path("link")).unwrap();
    assert_eq!(repository_of(&place.path("link")).unwrap(), whole(&repository, &git));
}

#[test]
fn of_nested_repositories_the_nearest_is_shown() {
    let place = Place::new();
    place.repository("outer");
    let inner = place.repository("outer/inner");
    assert_eq!(repository_of(&inner).unwrap(), whole(&inner, &inner.join(".git")));
    // Git goes on where this is no repository.
    place.folder("outer/empty/.git");
    let outer = place.path("outer");
    assert_eq!(repository_of(&outer.join("empty")).unwrap(), whole(&outer, &outer.join(".git")));
}

#[test]
fn a_linked_work_tree_is_shown_with_both_of_its_git_directories() {
    let place = Place::new();
    place.repository("main");
    place.git(&["-C", "main", "worktree", "add", "--quiet", "../linked"]);
    let linked = place.path("linked");
    let common = place.path("main/.git");
    let expected =
        [("/workspace", linked.clone()), ("/gitdir", common.join("worktrees/linked")), ("/gitcommon", common.clone())];
    assert_eq!(repository_of(&linked).unwrap(), expected);
    assert_eq!(repository_of(&place.folder("linked/below")).unwrap(), expected);
    // With relative paths, as newer versions of Git write them.
    place.write("linked/.git", "gitdir: ../main/.git/worktrees/linked\n");
    place.write("main/.git/worktrees/linked/gitdir", "../../../../linked/.git\n");
    assert_eq!(repository_of(&linked).unwrap(), expected);
    // It has moved, and nobody has told Git.
    fs::rename(&linked, place.path("moved")).unwrap();
    assert!(repository_of(&place.path("moved")).unwrap_err().contains("git worktree repair"));
}

#[test]
fn a_linked_work_tree_of_a_bare_repository_is_shown() {
    let place = Place::new();
    place.repository("origin");
    place.git(&["clone", "--quiet", "--bare", "origin", "bare.git"]);
    place.git(&["-C", "bare.git", "worktree", "add", "--quiet", "../linked"]);
    let common = place.path("bare.git");
    let expected =
        [("/workspace", place.path("linked")), ("/gitdir", common.join("worktrees/linked")), ("/gitcommon", common)];
    assert_eq!(repository_of(&place.path("linked")).unwrap(), expected);
}

#[test]
fn a_submodule_is_shown_with_the_git_directory_that_its_parent_keeps() {
    let place = Place::new();
    place.repository("origin");
    place.repository("parent");
    place.git(&["-C", "parent", "submodule", "--quiet", "add", "../origin", "libs/sub"]);
    let sub = place.path("parent/libs/sub");
    let git = place.path("parent/.git/modules/libs/sub");
    assert_eq!(repository_of(&sub).unwrap(), whole(&sub, &git));
    // Its settings move into a file of their own.
    place.git(&["-C", "parent/libs/sub", "sparse-checkout", "set", "src"]);
    assert!(git.join("config.worktree").exists());
    assert_eq!(repository_of(&sub).unwrap(), whole(&sub, &git));
    // And one that is linked to it.
    place.git(&["-C", "parent/libs/sub", "worktree", "add", "--quiet", "../../../linked"]);
    let linked = repository_of(&place.path("linked")).unwrap();
    assert_eq!(linked[2], ("/gitcommon", git));
}

#[test]
fn a_git_directory_elsewhere_is_shown_once_it_says_whose_it_is() {
    let place = Place::new();
    place.git(&["init", "--quiet", "--separate-git-dir=elsewhere", "work"]);
    let (work, git) = (place.path("work"), place.path("elsewhere"));
    let told = repository_of(&work).unwrap_err();
    assert!(told.contains("git config core.worktree"), "{told}");
    place.git(&["-C", "work", "config", "core.worktree", work.to_str().unwrap()]);
    assert_eq!(repository_of(&work).unwrap(), whole(&work, &git));
}

#[test]
fn a_bare_repository_has_no_work_tree() {
    let place = Place::new();
    place.git(&["init", "--quiet", "--bare", "bare.git"]);
    for folder in [place.path("bare.git"), place.path("bare.git/refs"), place.folder("none")] {
        let told = repository_of(&folder).unwrap_err();
        assert!(told.contains("is in no Git work tree"), "{told}");
    }
}

#[test]
fn every_directory_of_a_repository_lies_within_the_bound() {
    let place = Place::new();
    place.repository("a/main");
    place.folder("b");
    place.git(&["-C", "a/main", "worktree", "add", "--quiet", "../../b/linked"]);
    let within = |bound: &Path, path: &str| {
        let workspace = Workspace { within: Some(bound.to_owned()), ..workspace(WorkspaceKind::Repository) };
        shown(&workspace, &in_workdir(&place.path(path)))
    };
    assert!(within(&place.path, "b/linked").is_ok());
    assert!(within(&place.path("a"), "a/main").is_ok());
    assert!(within(&place.path("b"), "b/linked").unwrap_err().contains("main/.git"));
    assert!(within(&place.path("a"), "b/linked").unwrap_err().contains("b/linked"));
    // The working directory is within, its work tree is not.
    place.folder("a/main/below");
    assert!(within(&place.path("a/main/below"), "a/main/below").unwrap_err().contains("is not within"));
}

#[test]
fn a_work_tree_is_found_from_far_below_and_not_from_without_end() {
    let place = Place::new();
    let repository = place.repository("deep");
    let below = |depth: usize| {
        let path = repository.join("d/".repeat(depth));
        fs::create_dir_all(&path).unwrap();
        repository_of(&path)
    };
    assert!(below(200).is_ok());
    assert!(below(300).unwrap_err().contains("in no Git work tree"));
}
