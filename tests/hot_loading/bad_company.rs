//! Contributors that spin, trap and do not compile, among good ones.

use super::*;
use dsh_env::registry::Overlay;

const GOOD: usize = 20;

fn install_good(place: &Place) {
    for number in 0..GOOD {
        let (name, key) = (format!("good-{number:02}"), format!("DSH_GOOD_{number:02}"));
        place.install(&name, Guest::saying(&name, &[(key.as_str(), &number.to_string())]).component());
    }
}

fn values(overlay: &Overlay) -> Vec<(String, String)> {
    let good = overlay.iter().filter(|entry| entry.key.as_str().starts_with("DSH_GOOD_"));
    good.map(|entry| (entry.key.to_string(), entry.value.expose().to_owned())).collect()
}

#[test]
fn one_that_spins_one_that_traps_and_one_that_does_not_compile_change_nothing_for_twenty_good_ones() {
    let place = Place::new();
    install_good(&place);
    place.configure("[contributors.spins]\non-failure = \"omit\"\n[contributors.traps]\non-failure = \"omit\"\n");
    let running = Running::of(&place);
    let collect = || running.host.registry().collect(&Execution::new("bash")).unwrap();
    let before = values(&collect());
    assert_eq!(before.len(), GOOD);
    place.install(
        "spins",
        Guest::declaring("spins", &[("DSH_SPINS", "A fact.", false, None)])
            .with("resolve", "(loop (br 0)) (unreachable)")
            .component(),
    );
    place.install(
        "traps",
        Guest::declaring("traps", &[("DSH_TRAPS", "A fact.", false, None)])
            .with("resolve", "(unreachable)")
            .component(),
    );
    let mut broken = ticket("broken");
    let middle = broken.len() / 2;
    broken.truncate(middle);
    place.install("broken", &broken);
    running.until("all are seen", |running| {
        running.status("spins").is_some()
            && running.status("traps").is_some()
            && running.status("broken.wasm").is_some()
    });
    running.until_state("broken.wasm", State::Refused);
    running.until_state("spins", State::Live);
    for round in 0..30 {
        let overlay = collect();
        assert_eq!(values(&overlay), before, "round {round}");
        assert_eq!(overlay.get("DSH_SPINS").is_none(), overlay.get("DSH_TRAPS").is_none());
        let affected = overlay.reports().iter().filter(|report| !report.affected.is_empty());
        let affected: Vec<_> = affected.map(|report| report.name.as_str().to_owned()).collect();
        assert_eq!(affected, ["spins", "traps"]);
    }
}

#[test]
fn one_that_compiles_for_long_holds_up_neither_a_collection_nor_the_replacement_of_another() {
    let place = Place::new();
    place.install("ticket", ticket("one"));
    let running = Running::of(&place);
    place.install("slow", support::large::with_functions(2_000, &support::large::BLOCK.repeat(300)));
    place.install("ticket", ticket("two"));
    running.until_value("DSH_TICKET", Some("two"));
    assert!(running.status("slow.wasm").is_none_or(|status| status.state != State::Live), "it compiles still");
    // Which is over with the test: nobody waits for it.
}
