//! What goes live by itself, and what waits.

use proptest::prelude::*;

use super::*;
use crate::contract::{ContributorName, Variable};

/// The digest of a number.
fn digest(number: u64) -> String {
    format!("{number:064x}")
}

fn name(text: &str) -> ContributorName {
    ContributorName::new(text).unwrap()
}

/// A build in a file: one that declares two keys, unless it is changed.
#[derive(Clone, Debug)]
struct InFile {
    file: String,
    number: u64,
    declaration: Declaration,
    imports: Vec<String>,
}

impl InFile {
    /// The ticket's, which is accepted in [`lock`].
    fn ticket() -> Self {
        Self::of("ticket.wasm", 1, "ticket")
    }

    fn of(file: &str, number: u64, name: &str) -> Self {
        let declaration = Declaration::new(name)
            .variable("DSH_TICKET", "The ticket.")
            .sensitive_variable("DSH_TICKET_TOKEN", "What opens it.");
        let imports = vec!["wasi:cli/environment@0.2.0".to_owned(), "wasi:io/error@0.2.0".to_owned()];
        Self { file: file.to_owned(), number, declaration, imports }
    }

    /// The same but for its digest.
    fn number(self, number: u64) -> Self {
        Self { number, ..self }
    }

    fn variable(&mut self, at: usize) -> &mut Variable {
        &mut self.declaration.variables[at]
    }

    fn locked(&self) -> LockedBuild {
        LockedBuild {
            digest: digest(self.number),
            accepted: self.number,
            imports: self.imports.clone(),
            grants: String::new(),
            variables: self.declaration.variables.clone(),
        }
    }

    fn accept_in(&self, lock: &mut Lock) {
        lock.accept(&name(&self.declaration.name), &self.file, self.locked());
    }

    fn judge(&self, trust: TrustSettings, lock: &Lock) -> Verdict {
        let digest = digest(self.number);
        let Self { file, declaration, imports, .. } = self;
        trust.judge(lock, &Candidate { file, digest: &digest, declaration, imports })
    }
}

const LIVE: TrustSettings = TrustSettings { new: TrustNew::Live, update: TrustUpdate::SameDeclaration };
const PENDING: TrustSettings = TrustSettings { new: TrustNew::Pending, ..LIVE };
const PINNED: TrustSettings = TrustSettings { update: TrustUpdate::Pinned, ..LIVE };
const ALL: [TrustSettings; 4] = [LIVE, PENDING, PINNED, TrustSettings { new: TrustNew::Pending, ..PINNED }];

/// A lock in which the ticket's first build was accepted.
fn lock() -> Lock {
    let mut lock = Lock::default();
    InFile::ticket().accept_in(&mut lock);
    lock
}

fn waits(reasons: &[&str]) -> Verdict {
    Verdict::Waits(reasons.iter().map(|&reason| reason.to_owned()).collect())
}

#[test]
fn the_build_that_was_accepted_is_approved_whatever_is_trusted() {
    for trust in ALL {
        assert_eq!(InFile::ticket().judge(trust, &lock()), Verdict::Approved);
    }
}

#[test]
fn a_new_contributor_goes_live_or_waits_as_the_operator_wants() {
    let other =
        InFile { declaration: Declaration::new("other").variable("DSH_OTHER", "x"), ..InFile::of("o.wasm", 7, "") };
    for trust in ALL {
        let verdict = match trust.new {
            TrustNew::Live => Verdict::Accepted,
            TrustNew::Pending => waits(&["it is new, and new contributors wait (new = \"pending\")"]),
        };
        assert_eq!(other.judge(trust, &lock()), verdict);
        assert_eq!(other.judge(trust, &Lock::default()), verdict);
    }
}

#[test]
fn a_build_that_declares_and_imports_the_same_or_less_goes_live() {
    let same = InFile::ticket().number(2);
    let mut fewer = same.clone();
    fewer.declaration.variables.remove(0);
    let none = InFile { declaration: Declaration::new("ticket"), ..same.clone() };
    let mut narrower = same.clone();
    narrower.imports.remove(0);
    let mut more_sensitive = same.clone();
    more_sensitive.variable(0).sensitive = true;
    let mut turned = same.clone();
    turned.declaration.variables.reverse();
    turned.imports.reverse();
    for build in [same, fewer, none, narrower, more_sensitive, turned] {
        for trust in [LIVE, PENDING] {
            assert_eq!(build.judge(trust, &lock()), Verdict::Accepted, "{build:?}");
        }
        assert_eq!(build.judge(PINNED, &lock()), waits(&["every new build waits (update = \"pinned\")"]), "{build:?}");
    }
}

#[test]
fn a_build_that_asks_for_more_waits_and_says_for_what() {
    let same = InFile::ticket().number(2);
    let changed = |change: fn(&mut InFile)| {
        let mut build = same.clone();
        change(&mut build);
        build.judge(LIVE, &lock())
    };
    assert_eq!(
        changed(|build| build.declaration = build.declaration.clone().variable("DSH_TICKET_URL", "Where.")),
        waits(&["it declares DSH_TICKET_URL, which the live build does not"])
    );
    assert_eq!(
        changed(|build| build.variable(1).sensitive = false),
        waits(&["it does not call DSH_TICKET_TOKEN sensitive any more"])
    );
    assert_eq!(
        changed(|build| build.variable(0).description = "Run this".to_owned()),
        waits(&["it describes DSH_TICKET differently"])
    );
    assert_eq!(
        changed(|build| build.variable(0).key = "DSH_TICKETS".to_owned()),
        waits(&["it declares DSH_TICKETS, which the live build does not"])
    );
    assert_eq!(
        changed(|build| build.imports.push("wasi:sockets/tcp@0.2.0".to_owned())),
        waits(&["it imports wasi:sockets/tcp@0.2.0, which the live build does not"])
    );
    // Another version of the same interface is another import.
    assert_eq!(
        changed(|build| build.imports[0] = "wasi:cli/environment@0.2.6".to_owned()),
        waits(&["it imports wasi:cli/environment@0.2.6, which the live build does not"])
    );
    assert_eq!(
        changed(|build| {
            build.variable(0).description.clear();
            build.variable(1).sensitive = false;
            build.imports.push("x".to_owned());
        }),
        waits(&[
            "it describes DSH_TICKET differently",
            "it does not call DSH_TICKET_TOKEN sensitive any more",
            "it imports x, which the live build does not",
        ])
    );
}

#[test]
fn a_key_that_was_given_up_is_asked_for_again() {
    let mut lock = lock();
    let mut fewer = InFile::ticket().number(2);
    fewer.declaration.variables.remove(1);
    fewer.accept_in(&mut lock);
    let mut again = InFile::ticket().number(3);
    again.variable(1).sensitive = false;
    assert_eq!(again.judge(LIVE, &lock), waits(&["it declares DSH_TICKET_TOKEN, which the live build does not"]));
}

#[test]
fn what_belongs_to_another_file_waits_whatever_is_trusted() {
    let lock = lock();
    for trust in [LIVE, PENDING] {
        // The name.
        assert_eq!(
            InFile::of("other.wasm", 2, "ticket").judge(trust, &lock),
            waits(&["the name ticket belongs to ticket.wasm"])
        );
        // Even for the same build.
        assert_eq!(
            InFile::of("other.wasm", 1, "ticket").judge(trust, &lock),
            waits(&["the name ticket belongs to ticket.wasm"])
        );
        // The keys.
        assert_eq!(
            InFile::of("other.wasm", 2, "other").judge(trust, &lock),
            waits(&["DSH_TICKET belongs to ticket", "DSH_TICKET_TOKEN belongs to ticket"])
        );
        // The file.
        let renamed = InFile { declaration: Declaration::new("other"), ..InFile::ticket().number(2) };
        assert_eq!(
            renamed.judge(trust, &lock),
            waits(&["ticket.wasm was accepted as ticket, and now calls itself other"])
        );
    }
}

#[test]
fn an_update_that_takes_a_key_of_another_says_both() {
    let mut lock = lock();
    let other =
        InFile { declaration: Declaration::new("other").variable("DSH_OTHER", "x"), ..InFile::of("o.wasm", 7, "") };
    other.accept_in(&mut lock);
    let mut taking = other.number(8);
    taking.declaration = taking.declaration.variable("DSH_TICKET", "The ticket.");
    assert_eq!(
        taking.judge(LIVE, &lock),
        waits(&["DSH_TICKET belongs to ticket", "it declares DSH_TICKET, which the live build does not"])
    );
}

#[test]
fn keys_stay_owned_when_a_build_gives_them_up_until_the_name_is_forgotten() {
    let mut lock = lock();
    InFile { declaration: Declaration::new("ticket"), ..InFile::ticket().number(2) }.accept_in(&mut lock);
    let taking = InFile::of("other.wasm", 3, "other");
    assert_eq!(
        taking.judge(LIVE, &lock),
        waits(&["DSH_TICKET belongs to ticket", "DSH_TICKET_TOKEN belongs to ticket"])
    );
    lock.forget("ticket");
    assert_eq!(taking.judge(LIVE, &lock), Verdict::Accepted);
}

#[test]
fn what_was_approved_although_another_had_it_needs_no_second_approval() {
    let mut lock = lock();
    InFile::of("z.wasm", 2, "zebra").accept_in(&mut lock);
    assert_eq!(lock.owner("DSH_TICKET"), Some(&name("ticket")));
    assert_eq!(InFile::of("z.wasm", 2, "zebra").judge(LIVE, &lock), Verdict::Approved);
    assert_eq!(InFile::of("z.wasm", 3, "zebra").judge(LIVE, &lock), Verdict::Accepted);
}

#[test]
fn a_build_that_was_rolled_back_is_held_and_one_that_was_live_before_is_not() {
    let mut lock = lock();
    let builds: Vec<_> = (2..5).map(|number| InFile::ticket().number(number)).collect();
    builds.iter().for_each(|build| build.accept_in(&mut lock));
    assert!(lock.entry_mut("ticket").unwrap().choose(&digest(3)));
    for trust in ALL {
        assert_eq!(builds[2].judge(trust, &lock), Verdict::Held);
        assert_eq!(builds[1].judge(trust, &lock), Verdict::Approved);
    }
    assert_eq!(builds[0].judge(LIVE, &lock), Verdict::Accepted);
    assert_eq!(builds[0].judge(PINNED, &lock), waits(&["every new build waits (update = \"pinned\")"]));
    // Also when another build took its place since.
    InFile::ticket().number(9).accept_in(&mut lock);
    assert_eq!(builds[2].judge(LIVE, &lock), Verdict::Held);
    assert_eq!(builds[1].judge(LIVE, &lock), Verdict::Accepted);
}

#[test]
fn a_build_that_was_accepted_before_is_not_asked_about_again_though_it_asked_for_more() {
    let mut lock = lock();
    let mut wider = InFile::ticket().number(2);
    wider.declaration = wider.declaration.variable("DSH_TICKET_URL", "Where.");
    wider.accept_in(&mut lock);
    InFile::ticket().number(3).accept_in(&mut lock);
    assert_eq!(wider.judge(LIVE, &lock), Verdict::Accepted);
    // Unless somebody has been given what it asked for.
    let other = Declaration::new("other").variable("DSH_TICKET_URL", "Mine.");
    InFile { declaration: other, ..InFile::of("o.wasm", 7, "") }.accept_in(&mut lock);
    assert_eq!(wider.judge(LIVE, &lock), waits(&["DSH_TICKET_URL belongs to other"]));
}

#[test]
fn reasons_show_nothing_that_steers_and_nothing_endless() {
    let mut build = InFile::of("\u{1b}[31m.wasm", 2, "ticket");
    build.imports.push("\n".repeat(100_000));
    let Verdict::Waits(reasons) = build.judge(LIVE, &lock()) else { panic!() };
    let renamed =
        InFile { file: "ticket.wasm".to_owned(), declaration: Declaration::new("x\u{7}".repeat(9999)), ..build };
    let Verdict::Waits(more) = renamed.judge(LIVE, &lock()) else { panic!() };
    for reason in reasons.iter().chain(&more) {
        assert!(!reason.chars().any(char::is_control) && reason.len() < 2048, "{reason:?}");
    }
}

/// A build of one of a few names, in one of a few files, with some of a few keys.
fn builds() -> impl Strategy<Value = InFile> {
    let variable =
        (prop::sample::select(vec!["DSH_A", "DSH_B", "DSH_C"]), prop::sample::select(vec!["x", "y"]), any::<bool>());
    let variables = prop::collection::vec(variable, 0..4);
    let imports = prop::collection::vec(prop::sample::select(vec!["i", "j"]), 0..3);
    let named = prop::sample::select(vec!["one", "two"]);
    (prop::sample::select(vec!["1.wasm", "2.wasm", "3.wasm"]), 0..1000_u64, named, variables, imports).prop_map(
        |(file, number, name, variables, imports)| {
            let variable = |(key, description, sensitive): (&str, &str, bool)| Variable {
                key: key.to_owned(),
                description: description.to_owned(),
                sensitive,
            };
            let variables = variables.into_iter().map(variable).collect();
            let declaration = Declaration { name: name.to_owned(), variables };
            let imports = imports.into_iter().map(str::to_owned).collect();
            InFile { file: file.to_owned(), number, declaration, imports }
        },
    )
}

/// Something that an operator does: approve a build, forget a name, or bring a build back.
#[derive(Clone, Debug)]
enum Done {
    Approved(InFile),
    Forgot(&'static str),
    BroughtBack(&'static str, prop::sample::Index),
}

fn done() -> impl Strategy<Value = Done> {
    let named = || prop::sample::select(vec!["one", "two"]);
    prop_oneof![
        5 => builds().prop_map(Done::Approved),
        1 => named().prop_map(Done::Forgot),
        2 => (named(), any::<prop::sample::Index>()).prop_map(|(name, at)| Done::BroughtBack(name, at)),
    ]
}

fn lock_after(steps: Vec<Done>) -> Lock {
    let mut lock = Lock::default();
    for step in steps {
        match step {
            Done::Approved(build) => build.accept_in(&mut lock),
            Done::Forgot(name) => _ = lock.forget(name),
            Done::BroughtBack(name, at) => {
                let Some(entry) = lock.entry_mut(name) else { continue };
                let previous: Vec<_> = entry.previous().map(|build| build.digest.clone()).collect();
                if !previous.is_empty() {
                    assert!(entry.choose(previous[at.index(previous.len())].as_str()));
                }
            }
        }
    }
    lock
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn whatever_goes_live_by_itself_has_nothing_that_was_not_accepted_and_nothing_of_anybody_elses(
        steps in prop::collection::vec(done(), 0..8),
        build in builds(),
        again in any::<bool>(),
        trust in prop::sample::select(ALL.to_vec()),
    ) {
        let lock = lock_after(steps);
        // Half of them are like what is live, so that not all of them wait.
        let mut build = build;
        if again && let Some(entry) = lock.entry(&build.declaration.name) {
            build.file.clone_from(&entry.file);
            build.declaration.variables.retain(|variable| entry.live.variables.contains(variable));
            build.imports.retain(|import| entry.live.imports.contains(import));
        }
        let verdict = build.judge(trust, &lock);
        let entry = lock.entry(&build.declaration.name);
        let own = entry.filter(|entry| entry.file == build.file);
        let known = own.and_then(|entry| entry.build(&digest(build.number)));
        match verdict {
            Verdict::Approved => prop_assert_eq!(&own.unwrap().live.digest, &digest(build.number)),
            Verdict::Held => prop_assert!(own.unwrap().is_held(&digest(build.number))),
            Verdict::Waits(reasons) => prop_assert!(!reasons.is_empty()),
            Verdict::Accepted => {
                for variable in &build.declaration.variables {
                    let live = own.is_some_and(|entry| entry.live.declares(&variable.key));
                    let owner = lock.owner(&variable.key).map(ContributorName::as_str);
                    prop_assert!(live || owner.is_none_or(|owner| owner == build.declaration.name));
                }
                prop_assert!(lock.name_of(&build.file).is_none_or(|name| name.as_str() == build.declaration.name));
                match (entry, own, known) {
                    (None, ..) => prop_assert_eq!(trust.new, TrustNew::Live),
                    (Some(_), None, _) => prop_assert!(false, "the name is another file's"),
                    (_, Some(_), Some(_)) => prop_assert_eq!(trust.update, TrustUpdate::SameDeclaration),
                    (_, Some(entry), None) => {
                        prop_assert_eq!(trust.update, TrustUpdate::SameDeclaration);
                        for variable in &build.declaration.variables {
                            let same = |known: &&Variable| known.key == variable.key && known.description == variable.description;
                            let accepted = entry.live.variables.iter().find(same);
                            prop_assert!(accepted.is_some_and(|known| variable.sensitive || !known.sensitive));
                        }
                        prop_assert!(build.imports.iter().all(|import| entry.live.imports.contains(import)));
                    }
                }
            }
        }
    }
}
