//! Commands that are killed while they change what is installed.

use super::*;
use std::process::Stdio;

/// How many moments a command is killed at.
const MOMENTS: u32 = 100;

#[test]
fn a_command_that_is_killed_at_any_moment_leaves_one_of_the_builds_and_a_home_that_works() {
    let place = Place::new();
    let builds = [ticket("one"), ticket("two")];
    let files = [place.write("one.wasm", &builds[0]), place.write("two.wasm", &builds[1])];
    place.run(["add".as_ref(), files[0].as_os_str()]).expect(0);
    // Twice as long as one takes that nobody kills, so that some are killed at every point and some not at all.
    let began = Instant::now();
    place.run(["add".as_ref(), files[1].as_os_str()]).expect(0);
    let step = 2 * began.elapsed() / MOMENTS;
    let mut seen = std::collections::BTreeSet::new();
    for moment in 0..MOMENTS {
        let file = &files[usize::from(moment % 2 == 1)];
        let mut command = place.command(["add".as_ref(), file.as_os_str()]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(step * moment);
        // Fails where it is over already.
        let _ = child.kill();
        child.wait().unwrap();
        let env = place.run(["env", "--json"]).expect(0).json();
        let value = env["DSH_TICKET"].as_str().unwrap_or_else(|| panic!("after moment {moment}: {env}"));
        assert!(matches!(value, "one" | "two"), "{value}");
        assert!(env.get("DSH_DEGRADED").is_none(), "after moment {moment}: {env}");
        seen.insert(value.to_owned());
    }
    assert_eq!(seen.len(), 2, "nothing was ever changed");
    let left = std::fs::read_dir(place.home().join("contributors")).unwrap();
    let visible = left.filter(|entry| !entry.as_ref().unwrap().file_name().to_string_lossy().starts_with('.')).count();
    assert_eq!(visible, 1);
}
