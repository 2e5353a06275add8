//! Files that cannot be read as what they should be: one clear line each, and nobody waits.

use super::*;
use std::os::unix::fs::symlink;
use std::time::{Duration, Instant};

/// Every way in which a path can be no file, and the code that it gets.
fn bad_paths(place: &Place) -> Vec<(PathBuf, &'static str)> {
    let path = |name: &str| place.path().join(name);
    std::fs::create_dir(path("folder.wasm")).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(path("fifo.wasm")).status().unwrap().success());
    symlink("loop-b.wasm", path("loop-a.wasm")).unwrap();
    symlink("loop-a.wasm", path("loop-b.wasm")).unwrap();
    symlink("nowhere", path("dangling.wasm")).unwrap();
    let socket = std::os::unix::net::UnixListener::bind(path("socket.wasm")).unwrap();
    std::mem::forget(socket);
    let huge = std::fs::File::create(path("huge.wasm")).unwrap();
    huge.set_len(64 * 1024 * 1024 + 1).unwrap();
    vec![
        (path("missing.wasm"), "unreadable"),
        (path("folder.wasm"), "unreadable"),
        (path("fifo.wasm"), "unreadable"),
        (path("loop-a.wasm"), "unreadable"),
        (path("dangling.wasm"), "unreadable"),
        (path("socket.wasm"), "unreadable"),
        (PathBuf::from("/dev/zero"), "unreadable"),
        (PathBuf::from("/dev/null"), "unreadable"),
        (path("huge.wasm"), "too-large"),
        (place.write("empty.wasm", ""), "not-a-component"),
        (place.write("text.wasm", "hello"), "not-a-component"),
    ]
}

#[test]
fn check_gives_each_one_line_and_the_right_code() {
    let place = Place::new();
    for (path, code) in bad_paths(&place) {
        let started = Instant::now();
        let run = place.run(["check".as_ref(), "--json".as_ref(), path.as_os_str()]).expect(1);
        assert!(started.elapsed() < Duration::from_secs(10), "{path:?}");
        assert_eq!(run.json()["error"]["code"], code, "{path:?}: {}", run.stdout());
        assert_eq!(run.json()["error"]["stage"], "load");
        let run = place.run(["check".as_ref(), path.as_os_str()]).expect(1);
        assert_eq!(run.stdout().lines().count(), 1, "{}", run.stdout());
    }
}

#[test]
fn inspect_bench_and_exec_say_the_same() {
    let place = Place::new();
    for (path, code) in bad_paths(&place) {
        for command in ["inspect", "bench"] {
            let run = place.run([command.as_ref(), "--json".as_ref(), path.as_os_str()]).expect(1);
            assert_eq!(run.json()["error"]["code"], code, "{command} {path:?}");
        }
        let run = place
            .run(["exec".as_ref(), "--contributor".as_ref(), path.as_os_str(), "--".as_ref(), "true".as_ref()])
            .expect(125);
        assert_eq!(run.stderr().lines().count(), 1, "{}", run.stderr());
        assert!(run.stderr().contains(code), "{path:?}: {}", run.stderr());
    }
}

#[test]
fn a_link_to_a_component_is_that_component() {
    let place = Place::new();
    let file = place.write("good.wasm", Guest::good().component());
    let link = place.path().join("link.wasm");
    symlink(file, &link).unwrap();
    place.run(["check".as_ref(), link.as_os_str()]).expect(0);
}

#[test]
fn a_file_that_is_written_while_it_is_read_is_never_half_a_contributor() {
    let place = Place::new();
    let good = Guest::good().component();
    let file = place.write("changing.wasm", &good);
    let stop = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let writer = {
        let (file, stop, good) = (file.clone(), std::sync::Arc::clone(&stop), good.clone());
        std::thread::spawn(move || {
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                std::fs::write(&file, &good[..good.len() / 2]).unwrap();
                std::fs::write(&file, &good).unwrap();
            }
        })
    };
    for _ in 0..40 {
        let run = place.run(["check".as_ref(), "--json".as_ref(), file.as_os_str()]);
        let report = run.json();
        let code = report["error"]["code"].as_str();
        assert!(matches!(code, None | Some("unreadable" | "malformed" | "not-a-component")), "{report}");
    }
    stop.store(true, std::sync::atomic::Ordering::Relaxed);
    writer.join().unwrap();
}

#[test]
fn records_that_are_no_records_are_refused() {
    let place = Place::new();
    for (content, status) in [
        ("", 2),
        ("[]", 2),
        ("{\"agnet\":{}}", 2),
        ("{\"workdir\":\"relative\"}", 2),
        ("{\"agent\":{\"session\":{\"id\":\"\"}}}", 2),
        ("{}", 0),
    ] {
        let record = place.write("record.json", content);
        let run =
            place.run(["env".as_ref(), "--json".as_ref(), "--execution".as_ref(), record.as_os_str()]).expect(status);
        if status == 2 {
            assert_eq!(run.json()["error"]["code"], "invalid-execution", "{content}");
        }
    }
    for (path, _) in bad_paths(&place) {
        place.run(["env".as_ref(), "--execution".as_ref(), path.as_os_str()]).expect(2);
    }
}

#[test]
fn a_name_of_a_file_never_steers_a_terminal() {
    let place = Place::new();
    let run = place.run(["check", "evil\u{1b}[2J\u{202e}.wasm"]).expect(1);
    assert!(!run.stdout().trim_end().chars().any(dsh_env::text::steers), "{:?}", run.stdout());
    let run = place.run(["exec", "--contributor", "evil\u{1b}[2J\u{9b}.wasm", "--", "true"]).expect(125);
    assert!(!run.stderr().trim_end().chars().any(dsh_env::text::steers), "{:?}", run.stderr());
}
