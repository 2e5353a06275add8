//! Calls that know nothing of each other.

use super::*;
use std::sync::Arc;
use std::thread;

/// Counts its own calls in a global, in memory and in a table, and answers with the sum.
fn counter() -> Guest {
    Guest::good().with("extra", r#"(global $calls (mut i32) (i32.const 0)) (table $t 1 100 funcref)"#).with(
        "resolve",
        "(global.set $calls (i32.add (global.get $calls) (i32.const 1)))
             (i32.store (i32.const 3000) (i32.add (i32.load (i32.const 3000)) (i32.const 1)))
             (i32.store (i32.const 130000) (i32.add (i32.load (i32.const 130000)) (i32.const 1)))
             (drop (table.grow $t (ref.null func) (i32.const 1)))
             (i32.store8 (i32.const 1496)
               (i32.add (i32.const 42)
                 (i32.add (i32.add (global.get $calls) (i32.load (i32.const 3000)))
                          (i32.add (i32.load (i32.const 130000)) (i32.add (table.size $t) (memory.size))))))
             (drop (memory.grow (i32.const 1)))
             (i32.const 1408)",
    )
}

#[test]
fn nothing_passes_from_one_call_to_the_next() {
    // 42 + 1 + 1 + 1 + 2 table elements + 2 pages = '1'.
    for sandbox in sandboxes() {
        let contributor = load(sandbox, &counter().component()).unwrap();
        for _ in 0..300 {
            assert_eq!(resolve(&contributor).unwrap(), [Binding::new("DSH_PROBE", "1")]);
        }
    }
}

#[test]
fn hostile_calls_beside_good_ones_change_none_of_them() {
    let hostile: Arc<Vec<_>> = Arc::new(
        [
            Guest::good().with("resolve", "(unreachable)"),
            Guest::good().with("resolve", "(drop (memory.grow (i32.const 2000))) (unreachable)"),
            Guest::good().with("resolve", "(i32.const 0x7ffffff0)"),
            Guest::good()
                .with("extra", "(func $f (param i32) (result i32) (i32.add (call $f (local.get 0)) (i32.const 1)))")
                .with("resolve", "(call $f (i32.const 1))"),
        ]
        .iter()
        .map(|guest| load(sandboxes()[1], &guest.component()).unwrap())
        .collect(),
    );
    let good = Arc::new(load(sandboxes()[1], &counter().component()).unwrap());
    let threads: Vec<_> = (0..4)
        .map(|number| {
            let (good, hostile) = (Arc::clone(&good), Arc::clone(&hostile));
            thread::spawn(move || {
                for round in 0..500 {
                    if number % 2 == 0 {
                        assert_eq!(resolve(&good).unwrap(), [Binding::new("DSH_PROBE", "1")]);
                    } else {
                        resolve(&hostile[round % hostile.len()]).unwrap_err();
                    }
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
}

#[test]
fn a_guest_sees_the_execution_and_nothing_else_of_the_host() {
    // Finds the text "s1" by its length among the record's words, wherever the layout puts it.
    let find = "(local.set $i (local.get $execution))
        (loop $l
          (if (i32.and (i32.eq (i32.load offset=4 (local.get $i)) (i32.const 2))
                       (i32.eq (i32.load16_u (i32.load (local.get $i))) (i32.const 0x3173)))
            (then
              (i32.store (i32.const 1448) (i32.load (local.get $i)))
              (i32.store (i32.const 1452) (i32.const 2))
              (return (i32.const 1408))))
          (local.set $i (i32.add (local.get $i) (i32.const 4)))
          (br_if $l (i32.lt_u (local.get $i) (i32.add (local.get $execution) (i32.const 200)))))
        (unreachable)";
    for sandbox in sandboxes() {
        let contributor = load(sandbox, &Guest::good().with("resolve", find).component()).unwrap();
        assert_eq!(resolve(&contributor).unwrap(), [Binding::new("DSH_PROBE", "s1")]);
    }
}
