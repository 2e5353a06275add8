use std::fs;

use super::*;
use crate::home::Surroundings;

/// A home with a folder of skills.
struct Fixture {
    dir: tempfile::TempDir,
}

impl Fixture {
    fn new() -> Self {
        let dir = folder_of_mine();
        fs::create_dir(dir.path().join(FOLDER)).unwrap();
        only_mine(&dir.path().join(FOLDER));
        Self { dir }
    }

    fn home(&self) -> Home {
        Home::resolve_in(Some(self.dir.path().as_os_str()), &Surroundings::default()).unwrap()
    }

    fn folder(&self, name: &str) -> PathBuf {
        self.dir.path().join(FOLDER).join(name)
    }

    fn skill(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let folder = self.folder(name);
        fs::create_dir_all(&folder).unwrap();
        only_mine(&folder);
        let path = folder.join(FILE_NAME);
        fs::write(&path, text).unwrap();
        only_mine(&path);
        path
    }

    fn find(&self) -> Found {
        Skills::at(self.home()).find().unwrap()
    }
}

/// A folder that is gone after the test.
fn folder_of_mine() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    only_mine(folder.path());
    folder
}

/// Takes away what the umask may have given to others.
fn only_mine(path: &Path) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(path, fs::Permissions::from_mode(0o700)).unwrap();
    }
    let _ = path;
}

fn names(skills: &[Skill]) -> Vec<&str> {
    skills.iter().map(|skill| skill.name.as_str()).collect()
}

/// The code of the only problem.
fn problem(found: &Found) -> Code {
    assert_eq!(found.problems.len(), 1, "{:?}", found.problems);
    found.problems[0].code()
}

#[test]
fn skills_are_found_by_name_in_order() {
    let fixture = Fixture::new();
    let path = fixture.skill("z", "---\nname: build\ndescription: How to build.\n---\nText.\n");
    fixture.skill("a", "# No front matter\n");
    fixture.skill("m", "---\ndescription: 'Only that.'\n---\n");
    let found = fixture.find();
    assert_eq!(names(&found.skills), ["a", "build", "m"]);
    assert_eq!(
        found.skills[1],
        Skill { name: "build".into(), description: Some("How to build.".into()), path: path.clone() }
    );
    assert!(path.is_absolute());
    assert_eq!(found.skills[2].description.as_deref(), Some("Only that."));
    assert!(found.problems.is_empty(), "{:?}", found.problems);
}

#[test]
fn without_a_folder_there_are_no_skills_and_none_is_made() {
    let dir = folder_of_mine();
    let home = Home::resolve_in(Some(dir.path().as_os_str()), &Surroundings::default()).unwrap();
    assert_eq!(discover(&home).unwrap(), []);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn what_is_no_skill_is_passed_over() {
    let fixture = Fixture::new();
    fs::write(fixture.folder("README.md"), "about skills").unwrap();
    fs::create_dir(fixture.folder("empty")).unwrap();
    fixture.skill(".git", "x");
    let found = fixture.find();
    assert!(found.skills.is_empty() && found.problems.is_empty(), "{found:?}");
}

#[test]
fn a_skill_that_cannot_be_used_hides_no_other() {
    let fixture = Fixture::new();
    fixture.skill("good", "text");
    fixture.skill("bytes", b"\xff\xfe");
    fixture.skill("open", "---\nname: open\n");
    fixture.skill("steering", "---\nname: \"a\\u001b[2J\"\n---\n");
    fixture.skill("wordy", format!("---\ndescription: {}\n---\n", "x".repeat(MAX_DESCRIPTION_BYTES + 1)));
    fs::create_dir_all(fixture.folder("folder").join(FILE_NAME)).unwrap();
    only_mine(&fixture.folder("folder"));
    let found = fixture.find();
    assert_eq!(names(&found.skills), ["good"]);
    let codes: Vec<_> = found.problems.iter().map(Error::code).collect();
    use Code::{InvalidConfiguration, Unreadable};
    let invalid = InvalidConfiguration;
    assert_eq!(codes, [invalid, Unreadable, invalid, invalid, invalid]);
    for (problem, name) in found.problems.iter().zip(["bytes", "folder", "open", "steering", "wordy"]) {
        assert!(problem.message().contains(&format!("{name}/{FILE_NAME}: ")), "{problem}");
        assert!(!problem.message().contains('\u{1b}'));
    }
    assert_eq!(names(&discover(&fixture.home()).unwrap()), ["good"]);
}

#[test]
fn a_text_may_be_as_large_as_the_limit_and_no_larger() {
    let fixture = Fixture::new();
    fixture.skill("fits", vec![b'x'; MAX_BYTES]);
    fixture.skill("too-large", vec![b'x'; MAX_BYTES + 1]);
    let found = fixture.find();
    assert_eq!(names(&found.skills), ["fits"]);
    assert_eq!(problem(&found), Code::TooLarge);
}

#[test]
fn a_folder_with_more_entries_than_a_model_could_read_is_refused() {
    let fixture = Fixture::new();
    for index in 0..=MAX_ENTRIES {
        fs::write(fixture.folder(&index.to_string()), "").unwrap();
    }
    assert_eq!(Skills::at(fixture.home()).find().unwrap_err().code(), Code::InvalidConfiguration);
    fs::remove_file(fixture.folder("0")).unwrap();
    assert!(fixture.find().skills.is_empty());
}

#[test]
fn of_two_skills_of_one_name_the_first_folder_has_it() {
    let fixture = Fixture::new();
    let first = fixture.skill("a", "---\nname: same\n---\n");
    fixture.skill("b", "---\nname: same\n---\n");
    let found = fixture.find();
    assert_eq!(found.skills.iter().map(|skill| &skill.path).collect::<Vec<_>>(), [&first]);
    assert_eq!(problem(&found), Code::InvalidConfiguration);
}

#[test]
fn a_file_in_the_place_of_the_folder_is_an_error() {
    let dir = folder_of_mine();
    fs::write(dir.path().join(FOLDER), "").unwrap();
    only_mine(&dir.path().join(FOLDER));
    let home = Home::resolve_in(Some(dir.path().as_os_str()), &Surroundings::default()).unwrap();
    assert_eq!(Skills::at(home).find().unwrap_err().code(), Code::Unreadable);
}

#[test]
fn another_home_than_the_shell_environments_is_a_contradiction() {
    let skills = Skills::at(Home::resolve_in(Some("/a".as_ref()), &Surroundings::default()).unwrap());
    let shell = Home::resolve_in(Some("/b".as_ref()), &Surroundings::default()).unwrap();
    let error = Home::agreed(("the shell environment", shell), ("local skills", skills.home().clone())).unwrap_err();
    assert_eq!(error.code(), Code::ContradictoryHomes);
    assert!(error.message().contains("/a") && error.message().contains("/b"), "{error}");
}

#[cfg(unix)]
mod special_files {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    #[test]
    fn fifos_devices_and_loops_are_problems_and_hang_nothing() {
        let fixture = Fixture::new();
        fixture.skill("good", "text");
        for name in ["device", "fifo", "loop", "nowhere"] {
            fs::create_dir(fixture.folder(name)).unwrap();
            only_mine(&fixture.folder(name));
        }
        let file = |name: &str| fixture.folder(name).join(FILE_NAME);
        assert!(std::process::Command::new("mkfifo").arg(file("fifo")).status().unwrap().success());
        symlink("/dev/zero", file("device")).unwrap();
        symlink(file("loop"), file("loop")).unwrap();
        symlink(fixture.folder("missing"), file("nowhere")).unwrap();
        symlink(fixture.folder("round"), fixture.folder("round")).unwrap();
        let found = fixture.find();
        assert_eq!(names(&found.skills), ["good"]);
        assert_eq!(found.problems.len(), 5, "{:?}", found.problems);
        assert!(found.problems.iter().all(|problem| problem.code() == Code::Unreadable), "{:?}", found.problems);
    }

    #[test]
    fn a_link_to_a_skill_is_a_skill() {
        let fixture = Fixture::new();
        let elsewhere = folder_of_mine();
        fs::write(elsewhere.path().join(FILE_NAME), "text").unwrap();
        only_mine(&elsewhere.path().join(FILE_NAME));
        symlink(elsewhere.path(), fixture.folder("linked")).unwrap();
        let found = fixture.find();
        assert_eq!(names(&found.skills), ["linked"]);
        assert_eq!(found.skills[0].path, fixture.folder("linked").join(FILE_NAME));
    }

    #[test]
    fn what_others_can_write_to_is_not_used() {
        let writable = fs::Permissions::from_mode(0o777);
        let fixture = Fixture::new();
        fixture.skill("good", "text");
        fs::set_permissions(fixture.skill("file", "text"), writable.clone()).unwrap();
        fixture.skill("folder", "text");
        fs::set_permissions(fixture.folder("folder"), writable.clone()).unwrap();
        let found = fixture.find();
        assert_eq!(names(&found.skills), ["good"]);
        let codes: Vec<_> = found.problems.iter().map(Error::code).collect();
        assert_eq!(codes, [Code::UnsafePermissions; 2]);

        fs::set_permissions(fixture.dir.path().join(FOLDER), writable).unwrap();
        assert_eq!(Skills::at(fixture.home()).find().unwrap_err().code(), Code::UnsafePermissions);
    }
}
