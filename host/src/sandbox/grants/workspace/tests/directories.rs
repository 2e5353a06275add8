use super::*;
use std::os::unix::fs::symlink;

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

#[test]
fn the_working_directory_is_shown_where_it_really_is() {
    let place = Place::new();
    let folder = place.folder("a/b");
    assert_eq!(of_workdir(&folder).unwrap(), [("/workspace", folder.clone())]);
    symlink(&folder, place.path("link")).unwrap();
    assert_eq!(of_workdir(&place.path("link")).unwrap(), [("/workspace", folder.clone())]);
    assert_eq!(of_workdir(&place.path("a/../a/./b")).unwrap(), [("/workspace", folder)]);
}

#[test]
fn the_sessions_directory_is_shown_if_it_is_an_absolute_path() {
    let place = Place::new();
    let folder = place.folder("session");
    assert_eq!(of_session(folder.to_str()).unwrap(), [("/workspace", folder)]);
    assert!(of_session(Some("relative")).unwrap_err().contains("not an absolute path"));
    assert!(of_session(Some("")).unwrap_err().contains("not an absolute path"));
    assert!(of_session(None).unwrap_err().contains("for no directory"));
}

#[test]
fn a_call_without_a_directory_or_a_session_shows_nothing() {
    let execution = Execution::new("bash");
    for (kind, why) in [
        (WorkspaceKind::Workdir, "no working directory"),
        (WorkspaceKind::Repository, "no working directory"),
        (WorkspaceKind::Session, "no session"),
    ] {
        let told = workspace(kind).open(&execution).unwrap_err();
        assert!(told.contains(why), "{told}");
    }
}

#[test]
fn what_is_no_directory_is_not_shown_and_not_waited_for() {
    let place = Place::new();
    assert!(of_workdir(&place.path("none")).unwrap_err().contains("does not exist"));
    assert!(of_workdir(&place.write("file", "")).unwrap_err().contains("no directory"));
    let fifo = place.path("fifo");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    assert!(of_workdir(&fifo).unwrap_err().contains("no directory"));
    symlink("loop", place.path("loop")).unwrap();
    of_workdir(&place.path("loop")).unwrap_err();
}

#[test]
fn the_root_and_what_the_kernel_makes_up_is_never_shown() {
    let place = Place::new();
    for (number, path) in
        ["/", "/proc", "/proc/self", "/proc/self/root", "/proc/self/fd", "/sys", "/sys/kernel", "/dev"]
            .iter()
            .enumerate()
    {
        let link = place.path(&number.to_string());
        symlink(path, &link).unwrap();
        for path in [Path::new(path), &link] {
            let told = of_workdir(path).unwrap_err();
            assert!(told.contains("the root directory, or of a filesystem"), "{told}");
            // A repository there would not be either.
            repository_of(path).unwrap_err();
        }
    }
}

#[test]
fn a_directory_that_procfs_leads_to_is_shown_where_it_is() {
    let place = Place::new();
    let folder = place.folder("folder");
    let open = fs::File::open(&folder).unwrap();
    let path = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&open));
    assert_eq!(of_workdir(Path::new(&path)).unwrap(), [("/workspace", folder)]);
}

#[test]
fn a_directory_of_another_user_is_not_shown() {
    let place = Place::new();
    let folder = if is_root() {
        let folder = place.folder("theirs");
        std::os::unix::fs::chown(&folder, Some(65_534), None).unwrap();
        folder
    } else {
        PathBuf::from("/usr")
    };
    let told = of_workdir(&folder).unwrap_err();
    assert!(told.contains("belongs to user"), "{told}");
}

#[test]
fn a_directory_that_is_gone_is_not_shown() {
    let place = Place::new();
    let folder = place.folder("gone");
    let open = fs::File::open(&folder).unwrap();
    fs::remove_dir(&folder).unwrap();
    let path = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&open));
    of_workdir(Path::new(&path)).unwrap_err();
    // Nor what has its old name as the kernel writes it.
    place.folder("gone (deleted)");
    of_workdir(Path::new(&path)).unwrap_err();
}

#[test]
fn what_is_shown_lies_within_the_bound_after_every_link() {
    let place = Place::new();
    let (inside, outside) = (place.folder("bound/inside"), place.folder("bound-not/outside"));
    let within = |bound: &Path, path: &Path| {
        let workspace = Workspace { within: Some(bound.to_owned()), ..workspace(WorkspaceKind::Workdir) };
        shown(&workspace, &in_workdir(path))
    };
    let bound = place.path("bound");
    assert_eq!(within(&bound, &inside).unwrap(), [("/workspace", inside.clone())]);
    assert_eq!(within(&bound, &bound).unwrap(), [("/workspace", bound.clone())]);
    assert!(within(&bound, &outside).unwrap_err().contains("is not within"));
    assert!(within(&bound, &place.path("bound/../bound-not/outside")).unwrap_err().contains("is not within"));
    symlink(&outside, place.path("bound/way-out")).unwrap();
    assert!(within(&bound, &place.path("bound/way-out")).unwrap_err().contains("is not within"));
    symlink(&inside, place.path("way-in")).unwrap();
    assert_eq!(within(&bound, &place.path("way-in")).unwrap(), [("/workspace", inside.clone())]);
    // The bound itself may be a link, as a home often is.
    symlink(&bound, place.path("bound-link")).unwrap();
    assert!(within(&place.path("bound-link"), &inside).is_ok());
    assert!(within(&place.path("none"), &inside).unwrap_err().contains("cannot be found"));
}
