use super::*;

fn temporary(folder: &Path) -> NamedTempFile {
    let mut file = NamedTempFile::new_in(folder).unwrap();
    file.write_all(b"new").unwrap();
    file
}

#[test]
fn what_would_replace_a_log_is_not_done_where_there_is_one() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("s1");
    let path = folder.join("session.jsonl");
    let lock = lock_folder(&folder, &mut Vec::new()).unwrap();
    persist_over_nothing(temporary(&folder), &path, &lock).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"new");
    fs::write(&path, "kept").unwrap();
    assert_eq!(persist_over_nothing(temporary(&folder), &path, &lock).unwrap_err().code(), Code::SessionExists);
    assert_eq!(fs::read(&path).unwrap(), b"kept");
}

#[cfg(unix)]
#[test]
fn what_would_replace_a_log_is_not_done_in_another_folder_than_the_one_that_is_locked() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("s1");
    let path = folder.join("session.jsonl");
    let lock = lock_folder(&folder, &mut Vec::new()).unwrap();
    fs::remove_dir(&folder).unwrap();
    let others = lock_folder(&folder, &mut Vec::new()).unwrap();
    let error = persist_over_nothing(temporary(&folder), &path, &lock).unwrap_err();
    assert_eq!(error.code(), Code::SessionStorage);
    assert!(!path.exists());
    persist_over_nothing(temporary(&folder), &path, &others).unwrap();
}

#[cfg(unix)]
#[test]
fn a_folder_that_is_removed_while_it_is_waited_for_is_made_again() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("s1");
    let first = lock_folder(&folder, &mut Vec::new()).unwrap();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| lock_folder(&folder, &mut Vec::new()).unwrap());
        std::thread::sleep(std::time::Duration::from_millis(50));
        fs::remove_dir(&folder).unwrap();
        drop(first);
        let lock = waiting.join().unwrap();
        assert!(is_at(&lock, &folder).unwrap());
    });
}
