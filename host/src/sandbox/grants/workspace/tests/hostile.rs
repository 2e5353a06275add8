//! Repositories that somebody made to have another directory shown.

use super::*;
use std::os::unix::fs::symlink;

/// Something private, and a folder that somebody else filled.
struct Attack {
    place: Place,
    private: PathBuf,
}

impl Attack {
    fn new() -> Self {
        let place = Place::new();
        let private = place.repository("private");
        place.write("private/secret", "hunter2");
        place.folder("evil");
        Self { place, private }
    }

    fn told(&self) -> String {
        repository_of(&self.place.path("evil")).unwrap_err()
    }

    /// What is in the folder's `.git` file leads to nothing.
    fn assert_refused(&self, dot_git: &str, why: &str) {
        self.place.write("evil/.git", dot_git);
        let told = self.told();
        assert!(told.contains(why), "{dot_git:?}: {told}");
    }

    /// Writes what a Git directory has.
    fn git_directory(&self, name: &str) {
        self.place.write(&format!("{name}/HEAD"), "ref: refs/heads/main\n");
        self.place.folder(&format!("{name}/objects"));
        self.place.folder(&format!("{name}/refs"));
    }
}

#[test]
fn a_git_file_that_names_a_folder_does_not_show_it() {
    let attack = Attack::new();
    let private = attack.private.display();
    attack.assert_refused(&format!("gitdir: {private}\n"), "is no Git directory");
    attack.assert_refused("gitdir: ../private\n", "is no Git directory");
    attack.assert_refused("gitdir: /\n", "the root directory");
    attack.assert_refused("gitdir: /proc/self\n", "filesystem");
    attack.assert_refused("gitdir: ../private/secret\n", "is no directory");
    attack.assert_refused("gitdir: ../none\n", "does not exist");
}

#[test]
fn a_git_file_that_names_another_repository_does_not_show_it() {
    let attack = Attack::new();
    let other = format!("gitdir: {}/.git\n", attack.private.display());
    attack.assert_refused(&other, "does not say that it is the Git directory of this work tree");
    attack.place.git(&["-C", "private", "config", "core.worktree", attack.private.to_str().unwrap()]);
    attack.assert_refused(&other, "is the Git directory of another work tree");
    attack.place.git(&["-C", "private", "worktree", "add", "--quiet", "../linked"]);
    let linked = format!("gitdir: {}/.git/worktrees/linked\n", attack.private.display());
    attack.assert_refused(&linked, "is not the Git directory of this work tree");
    // Neither is there a way round by what is within the folder.
    symlink(attack.private.join(".git"), attack.place.path("evil/inner")).unwrap();
    attack.assert_refused("gitdir: inner\n", "another work tree");
}

#[test]
fn a_git_directory_that_names_another_as_the_common_one_does_not_show_it() {
    let attack = Attack::new();
    let private_git = attack.private.join(".git");
    // In a folder of the right shape.
    attack.git_directory("evil/fake");
    attack.git_directory("evil/fake/worktrees/x");
    attack.place.write("evil/fake/worktrees/x/gitdir", format!("{}\n", attack.place.path("evil/.git").display()));
    for commondir in [private_git.clone(), attack.private.clone(), "/".into(), "../../none".into(), "".into()] {
        attack.place.write("evil/fake/worktrees/x/commondir", format!("{}\n", commondir.display()));
        attack.assert_refused("gitdir: fake/worktrees/x\n", "names another common directory");
    }
    // All of that is in the one folder, which the stranger could as well have filled otherwise.
    attack.place.write("evil/fake/worktrees/x/commondir", "../..\n");
    let shown = repository_of(&attack.place.path("evil")).unwrap();
    assert!(shown.iter().all(|(_, path)| path.starts_with(attack.place.path("evil"))), "{shown:?}");
    // In a folder of another shape.
    attack.git_directory("evil/elsewhere/x");
    attack.place.write("evil/elsewhere/x/gitdir", format!("{}\n", attack.place.path("evil/.git").display()));
    attack.place.write("evil/elsewhere/x/commondir", format!("{}\n", private_git.display()));
    attack.assert_refused("gitdir: elsewhere/x\n", "is not where linked work trees are");
    // And where a link makes the shape.
    symlink(&private_git, attack.place.path("evil/worktrees")).unwrap();
    attack.assert_refused("gitdir: worktrees/x\n", "does not exist");
}

#[test]
fn a_git_directory_in_the_folder_cannot_name_another_one() {
    let attack = Attack::new();
    attack.git_directory("evil/.git");
    assert!(repository_of(&attack.place.path("evil")).is_ok());
    attack.place.write("evil/.git/commondir", format!("{}/.git\n", attack.private.display()));
    assert!(attack.told().contains("which only linked work trees do"));
}

#[test]
fn links_in_place_of_a_git_directory_or_its_files_are_not_followed() {
    let attack = Attack::new();
    let dot_git = attack.place.path("evil/.git");
    symlink(attack.private.join(".git"), &dot_git).unwrap();
    assert!(attack.told().contains("is a link"));
    fs::remove_file(&dot_git).unwrap();
    symlink(attack.private.join("secret"), &dot_git).unwrap();
    assert!(attack.told().contains("is a link"));
    fs::remove_file(&dot_git).unwrap();
    attack.git_directory("evil/fake");
    attack.place.write("own", format!("[core]\n\tworktree = {}\n", attack.place.path("evil").display()));
    symlink(attack.place.path("own"), attack.place.path("evil/fake/config")).unwrap();
    attack.assert_refused("gitdir: fake\n", "config is a link");
}

#[test]
fn what_a_git_file_says_is_read_to_an_end_and_not_waited_for() {
    let attack = Attack::new();
    for (text, why) in [
        (String::new(), "names no Git directory"),
        ("gitdir: ".to_owned(), "names no Git directory"),
        ("gitdir: \n".to_owned(), "is no Git directory"),
        ("gitdir:x\n".to_owned(), "names no Git directory"),
        ("gitdir: a\0b\n".to_owned(), "names no Git directory"),
        (format!("gitdir: {}\n", "x".repeat(100_000)), "more than 65536 bytes"),
        (format!("gitdir: {}\n", "x/".repeat(10_000)), "cannot be opened"),
    ] {
        attack.place.write("evil/.git", text);
        let told = attack.told();
        assert!(told.contains(why), "{why}: {told}");
        assert!(told.len() < 2_000, "{} bytes", told.len());
    }
    let dot_git = attack.place.path("evil/.git");
    fs::remove_file(&dot_git).unwrap();
    assert!(Command::new("mkfifo").arg(&dot_git).status().unwrap().success());
    assert!(attack.told().contains("in no Git work tree"));
    fs::remove_file(&dot_git).unwrap();
    // A file of a Git directory is a pipe.
    attack.git_directory("evil/fake");
    assert!(Command::new("mkfifo").arg(attack.place.path("evil/fake/config")).status().unwrap().success());
    attack.assert_refused("gitdir: fake\n", "no regular file");
    assert!(Command::new("mkfifo").arg(attack.place.path("evil/fake/commondir")).status().unwrap().success());
    attack.assert_refused("gitdir: fake\n", "is not the Git directory of this work tree");
}

#[test]
fn a_repository_of_another_user_is_not_shown_and_none_beyond_it() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let give_away = |path: PathBuf| std::os::unix::fs::chown(path, Some(65_534), None).unwrap();
    let place = Place::new();
    place.repository("outer");
    place.repository("outer/theirs");
    give_away(place.path("outer/theirs"));
    assert!(repository_of(&place.path("outer/theirs")).unwrap_err().contains("belongs to user 65534"));
    // Their Git directory in a folder of ours.
    place.repository("outer/ours");
    give_away(place.path("outer/ours/.git"));
    assert!(repository_of(&place.path("outer/ours")).unwrap_err().contains("belongs to user 65534"));
    // A folder of theirs that has no repository is passed.
    give_away(place.folder("outer/built"));
    assert_eq!(repository_of(&place.folder("outer/built/below")).unwrap()[0].1, place.path("outer"));
}
