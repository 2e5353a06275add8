//! Files: what is a contributor, and what is not.

use super::*;

#[test]
fn a_good_component_says_what_it_declares_and_resolves() {
    for sandbox in sandboxes() {
        let contributor = load(sandbox, &Guest::good().component()).unwrap();
        assert_eq!(contributor.declare().name, "probe");
        assert_eq!(resolve(&contributor).unwrap(), [Binding::new("DSH_PROBE", "1")]);
    }
}

#[test]
fn a_core_module_with_the_contract_embedded_becomes_a_component() {
    for sandbox in sandboxes() {
        let contributor = load(sandbox, &Guest::good().core_module()).unwrap();
        assert_eq!(resolve(&contributor).unwrap(), [Binding::new("DSH_PROBE", "1")]);
    }
}

#[test]
fn what_is_no_component_is_told_apart_from_a_broken_one() {
    for bytes in [&b""[..], b"\0as", b"#!/bin/sh\n", b"(component)", b"\x7fELF", b"\0asm"] {
        assert_eq!(load_code(bytes), Code::NotAComponent, "{bytes:?}");
    }
    // A core module without the contract, and a header of no known kind.
    assert_eq!(load_code(b"\0asm\x01\0\0\0"), Code::NotAComponent);
    assert_eq!(load_code(b"\0asm\x07\0\x09\0"), Code::NotAComponent);
}

#[test]
fn a_component_that_was_cut_short_anywhere_is_refused() {
    let whole = Guest::good().component();
    for end in (8..whole.len()).step_by(97) {
        let code = load_code(&whole[..end]);
        assert!(matches!(code, Code::Malformed | Code::MissingExport), "at {end}: {code}");
    }
}

#[test]
fn a_component_with_any_one_byte_changed_is_refused_or_still_works() {
    let whole = Guest::good().component();
    for at in (8..whole.len()).step_by(13) {
        let mut changed = whole.clone();
        changed[at] ^= 0x55;
        for sandbox in sandboxes() {
            if let Ok(contributor) = load(sandbox, &changed) {
                let _ = resolve(&contributor);
            }
        }
    }
}

#[test]
fn an_export_that_is_missing_is_named() {
    let empty = wat::parse_str("(component)").unwrap();
    assert_eq!(load_code(&empty), Code::MissingExport);
    let other =
        wat::parse_str(r#"(component (instance $i) (export "acme:other/contributor@1.0.0" (instance $i)))"#).unwrap();
    assert_eq!(load_code(&other), Code::MissingExport);
    let hollow =
        wat::parse_str(r#"(component (instance $i) (export "dsh:shell-env/contributor@1.0.0" (instance $i)))"#)
            .unwrap();
    assert_eq!(load_code(&hollow), Code::MissingExport);
}

#[test]
fn the_contracts_name_on_something_else_is_a_wrong_type() {
    let component = r#"(component (component $c) (export "dsh:shell-env/contributor@1.0.0" (component $c)))"#;
    assert_eq!(load_code(&wat::parse_str(component).unwrap()), Code::WrongType);
    let type_for_function = r#"(component
        (type $t (record (field "a" u8)))
        (component $inner
            (type $t (record (field "a" u8)))
            (export "declare" (type $t)) (export "resolve" (type $t)))
        (instance $i (instantiate $inner))
        (export "dsh:shell-env/contributor@1.0.0" (instance $i)))"#;
    assert_eq!(load_code(&wat::parse_str(type_for_function).unwrap()), Code::WrongType);
}

#[test]
fn only_the_exact_version_of_the_contract_is_taken() {
    let wit = std::fs::read_to_string(support::project().join("wit/contributor.wit")).unwrap();
    for version in ["1.0.1", "1.1.0", "1.0.0-rc.1", "2.0.0", "0.1.0"] {
        let other = wit.replace("@1.0.0;", &format!("@{version};"));
        assert_eq!(load_code(&Guest::good().component_for(&other)), Code::UnsupportedVersion, "{version}");
    }
}

#[test]
fn imports_are_refused_by_name_whatever_their_kind() {
    for import in [
        r#"(import "acme:secrets/vault@1.0.0" (instance))"#,
        r#"(import "wasi:cli/environment@0.2.6" (instance))"#,
        r#"(import "wasi:cli/environment@0.3.0" (instance))"#,
        r#"(import "f" (func))"#,
        r#"(import "m" (core module))"#,
        r#"(import "c" (component))"#,
    ] {
        let text =
            format!(r#"(component {import} (instance $i) (export "dsh:shell-env/contributor@1.0.0" (instance $i)))"#);
        let [error, _] = sandboxes().map(|sandbox| load(sandbox, &wat::parse_str(&text).unwrap()).unwrap_err());
        assert_eq!(error.code(), Code::ForbiddenImport, "{import}: {error}");
        let name = import.split('"').nth(1).unwrap();
        assert!(error.message().contains(name), "{error}");
    }
}

#[test]
fn a_core_module_may_import_preview_1_and_no_other_version_of_it() {
    let guest = Guest::good().with("extra", "").core_module();
    let refused = |version: &str| {
        let text = format!(r#"(module (import "{version}" "fd_write" (func (param i32 i32 i32 i32) (result i32))))"#);
        // The import section of the one with the embedded contract of the other.
        let mut module = wat::parse_str(text).unwrap();
        for payload in wasmparser::Parser::new(0).parse_all(&guest) {
            if let wasmparser::Payload::CustomSection(section) = payload.unwrap()
                && section.name().starts_with("component-type")
            {
                append_custom_section(&mut module, section.name(), section.data());
            }
        }
        let [error, _] = sandboxes().map(|sandbox| load(sandbox, &module).unwrap_err());
        error
    };
    // It has no exports, which is what is amiss with it then.
    assert_eq!(refused("wasi_snapshot_preview1").code(), Code::MissingExport);
    let error = refused("wasi_unstable");
    assert_eq!(error.code(), Code::ForbiddenImport);
    assert!(error.message().contains("wasi_unstable"), "{error}");
}

#[test]
fn a_core_module_that_is_no_contributor_gets_the_code_that_its_component_would() {
    let embedded = |module: &str| {
        let mut module = wat::parse_str(module).unwrap();
        for payload in wasmparser::Parser::new(0).parse_all(&Guest::good().core_module()) {
            if let wasmparser::Payload::CustomSection(section) = payload.unwrap()
                && section.name().starts_with("component-type")
            {
                append_custom_section(&mut module, section.name(), section.data());
            }
        }
        module
    };
    assert_eq!(load_code(&embedded(r#"(module (import "env" "x" (func)))"#)), Code::ForbiddenImport);
    assert_eq!(load_code(&embedded("(module)")), Code::MissingExport);
    let wrong = r#"(module (memory (export "memory") 1)
        (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) (i32.const 0))
        (func (export "dsh:shell-env/contributor@1.0.0#declare") (result i32) (i32.const 0))
        (func (export "dsh:shell-env/contributor@1.0.0#resolve") (param i64) (result i32) (i32.const 0)))"#;
    assert_eq!(load_code(&embedded(wrong)), Code::WrongType);
}

#[test]
fn modules_that_once_crashed_a_parser_are_errors() {
    for file in std::fs::read_dir(support::fixtures().join("crashers")).unwrap() {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        assert_eq!(load_code(&bytes), Code::Malformed);
        assert_eq!(dsh_env::sandbox::inspect(bytes.clone()).unwrap_err().code(), Code::Malformed);
        assert_eq!(dsh_env::sandbox::imports(bytes).unwrap_err().code(), Code::Malformed);
    }
}

#[test]
fn a_core_module_that_does_not_fit_what_it_embeds_is_malformed() {
    let text = r#"(module
        (func (export "dsh:shell-env/contributor@1.0.0#declare"))
        (func (export "dsh:shell-env/contributor@1.0.0#resolve")))"#;
    let mut module = wat::parse_str(text).unwrap();
    append_custom_section(&mut module, "component-type:x", b"nonsense");
    assert_eq!(load_code(&module), Code::Malformed);
}

#[test]
fn proposals_that_the_engine_does_not_have_are_refused_and_do_not_crash() {
    for extra in
        ["(memory $shared 1 1 shared)", "(type $s (struct (field i32))) (func (drop (struct.new $s (i32.const 1))))"]
    {
        let text = format!("(module {extra})");
        let Ok(module) = wat::parse_str(&text) else { panic!("{text}") };
        let mut component = wat::parse_str("(component)").unwrap();
        // A module section.
        component.push(1);
        push_leb(&mut component, module.len());
        component.extend_from_slice(&module);
        let code = load_code(&component);
        assert!(matches!(code, Code::Malformed | Code::MissingExport), "{extra}: {code}");
    }
}

#[test]
fn a_message_about_a_file_never_steers_a_terminal() {
    let name = "evil\u{1b}[2J\u{202e}";
    let mut component = b"\0asm\x0d\0\x01\0".to_vec();
    // An export section with one export of that name, which no validator takes.
    let mut export = vec![1, 0];
    push_leb(&mut export, name.len());
    export.extend_from_slice(name.as_bytes());
    export.extend_from_slice(&[5, 0, 0]);
    component.push(11);
    push_leb(&mut component, export.len());
    component.extend_from_slice(&export);
    for sandbox in sandboxes() {
        let error = load(sandbox, &component).unwrap_err();
        assert!(!error.to_string().chars().any(dsh_env::text::steers), "{error:?}");
    }
}

#[test]
fn a_component_that_contains_another_component_works() {
    // What composition tools make: the contributor inside a component that only passes it on.
    let inner = Guest::good().component();
    let mut outer = b"\0asm\x0d\0\x01\0".to_vec();
    outer.push(4);
    push_leb(&mut outer, inner.len());
    outer.extend_from_slice(&inner);
    // Instantiate component 0, alias its export, export that.
    section(&mut outer, 5, &[1, 0, 0, 0]);
    let interface = b"dsh:shell-env/contributor@1.0.0";
    let mut alias = vec![1, 5, 0, 0, interface.len() as u8];
    alias.extend_from_slice(interface);
    section(&mut outer, 6, &alias);
    let mut export = vec![1, 0, interface.len() as u8];
    export.extend_from_slice(interface);
    export.extend_from_slice(&[5, 1, 0]);
    section(&mut outer, 11, &export);
    for sandbox in sandboxes() {
        let contributor = load(sandbox, &outer).unwrap();
        assert_eq!(resolve(&contributor).unwrap(), [Binding::new("DSH_PROBE", "1")]);
    }
}

fn section(bytes: &mut Vec<u8>, id: u8, content: &[u8]) {
    bytes.push(id);
    push_leb(bytes, content.len());
    bytes.extend_from_slice(content);
}

fn append_custom_section(module: &mut Vec<u8>, name: &str, data: &[u8]) {
    let mut content = Vec::new();
    push_leb(&mut content, name.len());
    content.extend_from_slice(name.as_bytes());
    content.extend_from_slice(data);
    section(module, 0, &content);
}

fn push_leb(bytes: &mut Vec<u8>, mut number: usize) {
    loop {
        let low = (number & 0x7f) as u8;
        number >>= 7;
        bytes.push(if number == 0 { low } else { low | 0x80 });
        if number == 0 {
            return;
        }
    }
}
