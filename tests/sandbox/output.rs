//! What comes back from a guest: bounded before it is copied, and believed only as far as its type goes.

use super::*;
use dsh_env::contract::Declaration;
use dsh_env::sandbox::Limits;

#[test]
fn a_list_or_text_that_reaches_beyond_memory_is_invalid() {
    // The list of bindings, and the text of a value.
    let list = "(i32.store (i32.const 1412) (i32.const 0x7fffff00)) (i32.const 1408)";
    assert_eq!(resolve_code(&Guest::good().with("resolve", list)), Code::InvalidOutput);
    let text = "(i32.store (i32.const 1452) (i32.const 0x00ffffff)) (i32.const 1408)";
    let code = resolve_code(&Guest::good().with("resolve", text));
    assert!(matches!(code, Code::InvalidOutput | Code::OutputLimit), "{code}");
    assert_eq!(resolve_code(&Guest::good().with("resolve", "(i32.const 0x7ffffff0)")), Code::InvalidOutput);
    assert_eq!(resolve_code(&Guest::good().with("resolve", "(i32.const 1409)")), Code::InvalidOutput);
}

#[test]
fn a_discriminant_that_names_no_case_is_invalid() {
    let result = "(i32.store8 (i32.const 1408) (i32.const 7)) (i32.const 1408)";
    assert_eq!(resolve_code(&Guest::good().with("resolve", result)), Code::InvalidOutput);
}

#[test]
fn a_length_whose_product_overflows_is_refused_before_it_is_multiplied() {
    for length in ["0x10000000", "0x0fffffff", "0xffffffff", "0x80000000"] {
        let list = format!("(i32.store (i32.const 1416) (i32.const {length})) (i32.const 1408)");
        let code = resolve_code(&Guest::good().with("resolve", list));
        assert!(matches!(code, Code::InvalidOutput | Code::OutputLimit), "{length}: {code}");
    }
}

#[test]
fn text_that_is_not_utf_8_is_invalid() {
    for bytes in ["0x80", "0xff", "0xc0"] {
        let text = format!("(i32.store8 (i32.const 1496) (i32.const {bytes})) (i32.const 1408)");
        assert_eq!(resolve_code(&Guest::good().with("resolve", text)), Code::InvalidOutput);
    }
}

#[test]
fn memory_that_the_guest_hands_out_has_to_be_its_own() {
    for pointer in ["0x7ffffff0", "-1", "3"] {
        let code = resolve_code(&Guest::good().with("realloc", format!("(i32.const {pointer})")));
        assert_eq!(code, Code::InvalidOutput, "{pointer}");
    }
}

#[test]
fn an_answer_of_many_small_pieces_is_stopped_by_its_size_in_the_host() {
    // A hundred thousand times the same large text: small in the guest, huge in the host.
    let guest = Guest::good().with("pages", "64").with(
        "resolve",
        "(loop $l
           (i32.store (i32.add (i32.const 65536) (i32.shl (local.get $i) (i32.const 4))) (i32.const 1296))
           (i32.store (i32.add (i32.const 65540) (i32.shl (local.get $i) (i32.const 4))) (i32.const 9))
           (i32.store (i32.add (i32.const 65544) (i32.shl (local.get $i) (i32.const 4))) (i32.const 1024))
           (i32.store (i32.add (i32.const 65548) (i32.shl (local.get $i) (i32.const 4))) (i32.const 32768))
           (local.set $i (i32.add (local.get $i) (i32.const 1)))
           (br_if $l (i32.lt_u (local.get $i) (i32.const 100000))))
         (i32.store (i32.const 1412) (i32.const 65536))
         (i32.store (i32.const 1416) (i32.const 100000))
         (i32.const 1408)",
    );
    // What lies at 1024 is not UTF-8 throughout, which is found at the first text.
    let code = resolve_code(&guest);
    assert!(matches!(code, Code::OutputLimit | Code::InvalidOutput), "{code}");
}

#[test]
fn an_answer_over_the_limit_is_told_from_a_broken_one() {
    let long = "(memory.fill (i32.const 65536) (i32.const 120) (i32.const 4000000))
        (i32.store (i32.const 1448) (i32.const 65536))
        (i32.store (i32.const 1452) (i32.const 4000000))
        (i32.const 1408)";
    let guest = Guest::good().with("pages", "64").with("resolve", long);
    let component = guest.component();
    let small = Limits { output: 1024 * 1024, ..Limits::RESOLVE };
    for sandbox in sandboxes() {
        let contributor = load(sandbox, &component).unwrap();
        assert_eq!(resolve(&contributor).unwrap().len(), 1, "within 5 MiB it is copied, for the registry to refuse");
        assert_eq!(resolve(&contributor.with_limits(small)).unwrap_err().code(), Code::OutputLimit);
    }
}

#[test]
fn an_error_message_of_a_guest_is_its_own_words() {
    let failure =
        resolve(&load(sandboxes()[0], &Guest::good().with("resolve", "(i32.const 1472)").component()).unwrap());
    assert_eq!(failure.unwrap_err().code(), Code::GuestError);
}

#[test]
fn a_trap_is_a_trap_whatever_its_cause() {
    for body in [
        "(unreachable)",
        "(i32.div_u (i32.const 1) (i32.const 0))",
        "(i32.load (i32.const 0x7fffffff))",
        "(i32.trunc_f32_s (f32.const nan))",
    ] {
        assert_eq!(resolve_code(&Guest::good().with("resolve", body)), Code::Trap, "{body}");
    }
    assert_eq!(load_code(&Guest::good().with("declare", "(unreachable)").component()), Code::Trap);
}

#[test]
fn a_declaration_is_what_the_guest_says_and_no_more() {
    let contributor = load(sandboxes()[1], &Guest::good().component()).unwrap();
    assert_eq!(contributor.declare(), Declaration::new("probe").variable("DSH_PROBE", "A fact."));
    let sensitive = load(sandboxes()[1], &Guest::good().with("sensitive", "\\01").component()).unwrap();
    assert_eq!(sensitive.declare(), Declaration::new("probe").sensitive_variable("DSH_PROBE", "A fact."));
}
