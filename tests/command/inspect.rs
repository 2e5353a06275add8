use super::*;

#[test]
fn a_contributor_is_described_without_being_run() {
    let place = Place::new();
    let file = place.write("spins.wasm", Guest::good().with("declare", "(loop $l (br $l)) (unreachable)").component());
    let inspection = place.run(["inspect".as_ref(), "--json".as_ref(), file.as_os_str()]).expect(0).json();
    assert_eq!(inspection["kind"], "component");
    assert_eq!(inspection["contract"], "1.0.0");
    assert_eq!(inspection["imports"], serde_json::json!([]));
    assert_eq!(inspection["exports"], serde_json::json!(["dsh:shell-env/contributor@1.0.0"]));
    assert_eq!(inspection["size"], std::fs::metadata(&file).unwrap().len());
    let sum = std::process::Command::new("sha256sum").arg(&file).output().unwrap().stdout;
    assert!(String::from_utf8(sum).unwrap().starts_with(inspection["sha256"].as_str().unwrap()));
}

#[test]
fn imports_are_listed_with_what_they_allow() {
    let place = Place::new();
    let file = support::fixtures().join("hostile/bad-imports-vault.wasm");
    let inspection = place.run(["inspect".as_ref(), "--json".as_ref(), file.as_os_str()]).expect(0).json();
    assert_eq!(inspection["imports"][0]["name"], "acme:secrets/vault@1.0.0");
    assert!(inspection["imports"][0]["allows"].as_str().unwrap().starts_with("refused: "));
    let run = place.run(["inspect".as_ref(), file.as_os_str()]).expect(0);
    assert!(run.stdout().contains("acme:secrets/vault@1.0.0"));
}

#[test]
fn a_core_module_is_told_from_a_component() {
    let place = Place::new();
    let file = support::project().join("guest-examples/rust/deployment-region/deployment-region.core.wasm");
    let inspection = place.run(["inspect".as_ref(), "--json".as_ref(), file.as_os_str()]).expect(0).json();
    assert_eq!(inspection["kind"], "core module");
    assert_eq!(inspection["contract"], "1.0.0");
    place.run(["check".as_ref(), file.as_os_str()]).expect(0);
}

#[test]
fn proposals_that_a_component_needs_are_named() {
    let place = Place::new();
    let simd = Guest::good().with("extra", "(func (result v128) (v128.const i32x4 0 0 0 0))");
    let file = place.write("simd.wasm", simd.component());
    let inspection = place.run(["inspect".as_ref(), "--json".as_ref(), file.as_os_str()]).expect(0).json();
    assert!(inspection["features"].as_array().unwrap().contains(&"simd".into()), "{inspection}");
}
