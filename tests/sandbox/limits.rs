//! Limits: whatever a guest uses up, the call ends with the limit's own code.

use super::*;
use dsh_env::sandbox::Limits;
use std::time::Instant;

#[test]
fn a_guest_that_spins_is_ended_by_its_processor_time() {
    assert_eq!(resolve_code(&Guest::good().with("resolve", "(loop $l (br $l)) (unreachable)")), Code::Timeout);
    let calling = Guest::good()
        .with("extra", "(func $f (param i32) (result i32) (local.get 0))")
        .with("resolve", "(loop $l (drop (call $f (i32.const 1))) (br $l)) (unreachable)");
    assert_eq!(resolve_code(&calling), Code::Timeout);
}

#[test]
fn a_guest_that_spins_anywhere_else_is_ended_too() {
    let spin = "(loop $l (br $l)) (unreachable)";
    // In the function that the host calls to copy the execution in, and in the one that cleans up after.
    assert_eq!(resolve_code(&Guest::good().with("realloc", spin)), Code::Timeout);
    let post_return =
        r#"(func (export "cabi_post_dsh:shell-env/contributor@1.0.0#resolve") (param i32) (loop $l (br $l)))"#;
    assert_eq!(resolve_code(&Guest::good().with("extra", post_return)), Code::Timeout);
    assert_eq!(load_code(&Guest::good().with("declare", spin).component()), Code::Timeout);
    let start = "(func $start (loop $l (br $l))) (start $start)";
    assert_eq!(load_code(&Guest::good().with("extra", start).component()), Code::Timeout);
}

#[test]
fn a_guest_that_fills_memory_over_and_over_is_ended_too() {
    let fill = "(loop $l (memory.fill (i32.const 8192) (i32.const 7) (i32.const 100000)) (br $l)) (unreachable)";
    assert_eq!(resolve_code(&Guest::good().with("resolve", fill)), Code::Timeout);
}

#[test]
fn the_wall_clock_ends_a_call_whose_processor_time_does_not() {
    let component = Guest::good().with("resolve", "(loop $l (br $l)) (unreachable)").component();
    let limits = Limits { cpu: Duration::from_secs(5), wall: Duration::from_millis(50), ..Limits::RESOLVE };
    for sandbox in sandboxes() {
        let contributor = load(sandbox, &component).unwrap().with_limits(limits);
        let failure = resolve(&contributor).unwrap_err();
        assert_eq!(failure.code(), Code::Timeout);
        assert!(failure.message().contains("wall clock"), "{failure:?}");
    }
}

#[test]
fn a_timeout_says_which_clock_ran_out_and_what_can_be_done() {
    let spinning = Guest::good().with("resolve", "(loop $l (br $l)) (unreachable)").component();
    let failure = resolve(&load(sandboxes()[0], &spinning).unwrap()).unwrap_err();
    assert!(failure.message().contains("processor time ran out after 100 ms"), "{failure:?}");
    assert!(failure.message().contains("raise its limit `cpu`"), "{failure:?}");
    let declaring = Guest::good().with("declare", "(loop $l (br $l)) (unreachable)").component();
    let error = load(sandboxes()[0], &declaring).unwrap_err();
    assert!(error.message().contains("1000 ms") && !error.message().contains("raise"), "{error}");
}

#[test]
fn the_deadline_of_the_overlay_ends_a_call_before_its_own_limits() {
    let component = Guest::good().with("resolve", "(loop $l (br $l)) (unreachable)").component();
    let limits = Limits { cpu: Duration::from_secs(5), wall: Duration::from_secs(5), ..Limits::RESOLVE };
    for sandbox in sandboxes() {
        let contributor = load(sandbox, &component).unwrap().with_limits(limits);
        let started = Instant::now();
        let failure = contributor.resolve(&execution(), &Deadline::after(Duration::from_millis(30))).unwrap_err();
        assert_eq!(failure.code(), Code::OverlayTimeout);
        assert!(started.elapsed() < Duration::from_secs(4));
    }
}

#[test]
fn a_guest_that_sleeps_the_ticker_to_death_is_still_ended() {
    // After the ticker fell asleep for want of calls, the next call has to wake it.
    let sandbox = Sandbox::new(&SandboxOptions::new()).unwrap();
    let contributor =
        load(&sandbox, &Guest::good().with("resolve", "(loop $l (br $l)) (unreachable)").component()).unwrap();
    std::thread::sleep(Duration::from_millis(900));
    assert_eq!(resolve(&contributor).unwrap_err().code(), Code::Timeout);
}

#[test]
fn a_guest_that_recurses_for_ever_runs_out_of_stack() {
    let guest = Guest::good()
        .with("extra", "(func $f (param i32) (result i32) (i32.add (call $f (local.get 0)) (i32.const 1)))")
        .with("resolve", "(call $f (i32.const 1))");
    assert_eq!(resolve_code(&guest), Code::StackLimit);
}

#[test]
fn a_thread_with_little_stack_can_call_a_guest_that_uses_all_of_its_own() {
    let guest = Guest::good()
        .with("extra", "(func $f (param i32) (result i32) (i32.add (call $f (local.get 0)) (i32.const 1)))")
        .with("resolve", "(call $f (i32.const 1))");
    let contributor = load(sandboxes()[0], &guest.component()).unwrap();
    let thread = std::thread::Builder::new().stack_size(128 * 1024);
    let failure = thread.spawn(move || resolve(&contributor).unwrap_err()).unwrap().join().unwrap();
    assert_eq!(failure.code(), Code::StackLimit);
}

#[test]
fn a_guest_that_wants_too_much_memory_is_told_no_and_the_host_says_so() {
    let by_hand = Guest::good().with("resolve", "(drop (memory.grow (i32.const 2000))) (unreachable)");
    assert_eq!(resolve_code(&by_hand), Code::MemoryLimit);
    let little_by_little = "(loop $l (br_if $l (i32.ne (i32.const -1) (memory.grow (i32.const 1))))) (unreachable)";
    assert_eq!(resolve_code(&Guest::good().with("resolve", little_by_little)), Code::MemoryLimit);
    let more_than_there_is = "(drop (memory.grow (i32.const 65535))) (unreachable)";
    assert_eq!(resolve_code(&Guest::good().with("resolve", more_than_there_is)), Code::MemoryLimit);
}

#[test]
fn a_guest_that_is_refused_memory_and_goes_on_is_fine() {
    let guest = Guest::good().with("resolve", "(drop (memory.grow (i32.const 2000))) (i32.const 1408)");
    for sandbox in sandboxes() {
        assert_eq!(resolve(&load(sandbox, &guest.component()).unwrap()).unwrap().len(), 1);
    }
}

#[test]
fn a_guest_that_reaches_its_own_maximum_was_refused_by_nobody() {
    let guest = Guest::good()
        .with("pages", "2 3")
        .with("resolve", "(drop (memory.grow (i32.const 2))) (drop (memory.grow (i32.const 2))) (unreachable)");
    assert_eq!(resolve_code(&guest), Code::Trap);
}

#[test]
fn memories_and_tables_that_start_too_large_are_refused_at_load() {
    assert_eq!(load_code(&Guest::good().with("pages", "1025").component()), Code::MemoryLimit);
    assert_eq!(load_code(&Guest::good().with("pages", "65536").component()), Code::MemoryLimit);
    assert_eq!(load_code(&Guest::good().with("extra", "(table 10001 funcref)").component()), Code::TableLimit);
    assert_eq!(load_code(&Guest::good().with("extra", "(table 10000000 funcref)").component()), Code::TableLimit);
    // Two that are each within the limit and not together.
    assert_eq!(load_code(&Guest::good().with("extra", "(memory 600) (memory 600)").component()), Code::MemoryLimit);
    assert_eq!(
        load_code(&Guest::good().with("extra", "(table 6000 funcref) (table 6000 funcref)").component()),
        Code::TableLimit
    );
}

#[test]
fn a_guest_that_wants_too_many_table_elements_is_told_no() {
    let guest = Guest::good()
        .with("extra", "(table $t 1 funcref)")
        .with("resolve", "(drop (table.grow $t (ref.null func) (i32.const 20000))) (unreachable)");
    assert_eq!(resolve_code(&guest), Code::TableLimit);
}

#[test]
fn a_component_of_too_many_instances_is_refused_however_it_makes_them() {
    let one_by_one = |count: usize| {
        let instances = "(core instance (instantiate $m))".repeat(count);
        wat::parse_str(format!("(component (core module $m) {instances} {HOLLOW})")).unwrap()
    };
    assert_eq!(load_code(&one_by_one(1001)), Code::InstanceLimit);
    // Within what may be compiled, and over what a call may make.
    let mut guest = Guest::good().component();
    guest.extend_from_slice(&many_more_instances(100));
    assert_eq!(load_code(&guest), Code::InstanceLimit);
}

/// The contract's name on an instance without functions, for what is refused before they are looked for.
const HOLLOW: &str = r#"(instance $hollow) (export "dsh:shell-env/contributor@1.0.0" (instance $hollow))"#;

/// Sections that add a module and instantiate it so often.
fn many_more_instances(count: u8) -> Vec<u8> {
    let module = b"\0asm\x01\0\0\0";
    let mut bytes = vec![1, 8];
    bytes.extend_from_slice(module);
    // The guest's own module is 0; it has no shim modules, so this one is 1.
    let instances: Vec<u8> = std::iter::once(count).chain((0..count).flat_map(|_| [0, 1, 0])).collect();
    bytes.push(2);
    let length = instances.len();
    bytes.extend_from_slice(&[(length & 0x7f) as u8 | 0x80, (length >> 7) as u8]);
    bytes.extend_from_slice(&instances);
    bytes
}

#[test]
fn a_component_that_doubles_at_every_step_is_refused_at_once() {
    // 2^40 instances in a kilobyte.
    let mut text = String::from("(component (component $c0 (core module $m) (core instance (instantiate $m)))");
    for step in 1..=40 {
        let before = step - 1;
        text.push_str(&format!(
            "(component $c{step} (alias outer 1 $c{before} (component $i)) (instance (instantiate $i)) (instance (instantiate $i)))"
        ));
    }
    text.push_str(&format!("(instance (instantiate $c40)) {HOLLOW})"));
    let started = Instant::now();
    assert_eq!(load_code(&wat::parse_str(&text).unwrap()), Code::InstanceLimit);
    assert!(started.elapsed() < Duration::from_secs(5));
}

#[test]
fn a_component_whose_instances_cannot_be_counted_is_refused() {
    let text = format!(
        r#"(component
            (component $takes (import "c" (component $c)) (instance (instantiate $c)) (instance (instantiate $c)))
            (component $leaf)
            (instance (instantiate $takes (with "c" (component $leaf))))
            {HOLLOW})"#
    );
    assert_eq!(load_code(&wat::parse_str(&text).unwrap()), Code::InstanceLimit);
}

#[test]
fn an_operators_lower_limits_hold() {
    let growing = Guest::good().with("resolve", "(drop (memory.grow (i32.const 40))) (unreachable)").component();
    let small = Limits { memory: 2 * 1024 * 1024, ..Limits::RESOLVE };
    for sandbox in sandboxes() {
        let contributor = load(sandbox, &growing).unwrap();
        assert_eq!(resolve(&contributor).unwrap_err().code(), Code::Trap);
        assert_eq!(resolve(&contributor.with_limits(small)).unwrap_err().code(), Code::MemoryLimit);
    }
}

#[test]
fn an_operators_higher_limits_hold_where_the_sandbox_was_made_for_them() {
    let growing = Guest::good().with("resolve", "(drop (memory.grow (i32.const 2000))) (unreachable)").component();
    let large = Limits { memory: 256 * 1024 * 1024, ..Limits::RESOLVE };
    for allocation in [Allocation::OnDemand, Allocation::Pooled] {
        let sandbox = Sandbox::new(&SandboxOptions::new().allocation(allocation).ceiling(&large)).unwrap();
        let contributor = load(&sandbox, &growing).unwrap().with_limits(large);
        // It got the memory, and trapped because it wanted to.
        assert_eq!(resolve(&contributor).unwrap_err().code(), Code::Trap, "{allocation:?}");
    }
}
