use super::*;

/// A folder with room for 100 bytes.
fn folder() -> (tempfile::TempDir, Arc<SpillFolder>) {
    let parent = tempfile::tempdir().unwrap();
    let folder = Arc::new(SpillFolder::bounded(parent.path(), 100).unwrap());
    (parent, folder)
}

fn write(folder: &Arc<SpillFolder>, bytes: usize) -> io::Result<SpillWriter> {
    let writer = folder.create_file()?;
    writer.write_all(&vec![b'x'; bytes])?;
    Ok(writer)
}

/// How many bytes all files have that are there.
fn bytes_in(folder: &SpillFolder) -> u64 {
    std::fs::read_dir(&folder.path).unwrap().map(|entry| entry.unwrap().metadata().unwrap().len()).sum()
}

#[test]
fn the_oldest_files_that_nobody_writes_to_make_room_for_new_ones() {
    let (_parent, folder) = folder();
    let running = write(&folder, 30).unwrap();
    let old: Vec<SpillName> = (0..3).map(|_| write(&folder, 20).unwrap().name()).collect();
    assert!(old.iter().all(|name| name.path.exists()));
    let new = write(&folder, 15).unwrap();
    assert_eq!(old.iter().map(|name| name.path.exists()).collect::<Vec<_>>(), [false, true, true]);
    assert_eq!(bytes_in(&folder), 85);
    // As much as there is.
    new.write_all(&[b'y'; 55]).unwrap();
    assert!(old.iter().all(|name| !name.path.exists()));
    assert_eq!(bytes_in(&folder), 100);
    assert_eq!(std::fs::read(running.name().path).unwrap(), [b'x'; 30]);
    running.write_all(b"z").unwrap_err();
    drop(new);
    running.write_all(b"z").unwrap();
    assert_eq!(bytes_in(&folder), 31);
}

#[test]
fn what_no_room_can_be_made_for_costs_nobody_a_file() {
    let (_parent, folder) = folder();
    let running = write(&folder, 60).unwrap();
    let ended = write(&folder, 30).unwrap().name();
    for bytes in [41, 101, 1 << 20] {
        assert!(running.write_all(&vec![b'x'; bytes]).is_err());
    }
    assert_eq!((ended.path.exists(), bytes_in(&folder)), (true, 90));
}

#[test]
fn only_bytes_that_are_there_count() {
    let (_parent, folder) = folder();
    for _ in 0..3 {
        write(&folder, 90).unwrap().name().remove();
    }
    let mut full = folder.create_file().unwrap();
    let real = std::mem::replace(&mut full.file, File::options().write(true).open("/dev/full").unwrap());
    full.write_all(&[b'x'; 90]).unwrap_err();
    full.file = real;
    drop(full);
    let (one, another) = (write(&folder, 50).unwrap(), write(&folder, 50).unwrap());
    assert_eq!(bytes_in(&folder), 100);
    drop((one, another));
}
