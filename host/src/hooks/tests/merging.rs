use proptest::prelude::*;

use super::*;
use crate::hooks::merge::{Verdict, merge};

fn verdict() -> impl Strategy<Value = Verdict> {
    let decision = proptest::sample::select(vec![Decision::None, Decision::Allow, Decision::Ask, Decision::Deny]);
    let maybe = || proptest::option::of("[a-z]{1,3}");
    (decision, maybe(), proptest::option::of(0..9), maybe(), maybe(), maybe()).prop_map(
        |(decision, reason, input, additional_context, system_message, stop)| Verdict {
            // A denial always has a reason, and only a call that is allowed has other arguments.
            reason: if decision == Decision::Deny { Some(reason.unwrap_or_else(|| "no".to_owned())) } else { reason },
            updated_input: input.filter(|_| decision == Decision::Allow).map(|input| json!({"n": input})),
            decision,
            additional_context,
            system_message,
            stop,
        },
    )
}

fn verdicts() -> impl Strategy<Value = Vec<Verdict>> {
    proptest::collection::vec(verdict(), 0..6)
}

fn sorted(text: Option<String>) -> Vec<String> {
    let mut lines: Vec<_> = text.unwrap_or_default().lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

proptest! {
    #[test]
    fn what_is_decided_and_why_does_not_depend_on_the_order(
        (one, other) in verdicts().prop_flat_map(|list| (Just(list.clone()), Just(list).prop_shuffle())),
    ) {
        let (one, other) = (merge(one), merge(other));
        prop_assert_eq!(one.decision, other.decision);
        prop_assert_eq!(sorted(one.reason), sorted(other.reason));
        prop_assert_eq!(sorted(one.stop), sorted(other.stop));
        prop_assert_eq!(one.updated_input.is_some(), other.updated_input.is_some());
    }

    #[test]
    fn one_denial_is_enough(mut list in verdicts(), at in any::<prop::sample::Index>()) {
        let denial = Verdict { decision: Decision::Deny, reason: Some("no".into()), ..Verdict::default() };
        list.insert(at.index(list.len() + 1), denial);
        let outcome = merge(list);
        prop_assert!(outcome.is_denied());
        prop_assert!(outcome.reason.unwrap().lines().any(|line| line == "no"));
        prop_assert_eq!(outcome.updated_input, None);
    }

    #[test]
    fn the_strongest_decision_counts_and_nothing_that_was_said_is_lost(list in verdicts()) {
        let outcome = merge(list.clone());
        let said = |wanted| list.iter().any(|verdict| verdict.decision == wanted);
        let expected = [Decision::Deny, Decision::Ask, Decision::Allow].into_iter().find(|wanted| said(*wanted));
        prop_assert_eq!(outcome.decision, expected.unwrap_or_default());
        let contexts: Vec<_> = list.iter().filter_map(|verdict| verdict.additional_context.clone()).collect();
        prop_assert_eq!(outcome.additional_context, contexts);
        let messages: Vec<_> = list.iter().filter_map(|verdict| verdict.system_message.clone()).collect();
        prop_assert_eq!(outcome.system_messages, messages);
        prop_assert_eq!(outcome.stop.is_some(), list.iter().any(|verdict| verdict.stop.is_some()));
    }
}

#[test]
fn of_several_new_arguments_the_last_in_the_order_of_configuration_count() {
    let allow = |n| Verdict {
        decision: Decision::Allow,
        updated_input: Some(json!({ "n": n })),
        reason: Some(format!("reason {n}")),
        ..Verdict::default()
    };
    let ask = Verdict { decision: Decision::Ask, reason: Some("really?".into()), ..Verdict::default() };
    let outcome = merge(vec![allow(1), Verdict::default(), allow(2)]);
    assert_eq!(outcome.decision, Decision::Allow);
    assert_eq!(outcome.updated_input, Some(json!({"n": 2})));
    assert_eq!(outcome.reason.as_deref(), Some("reason 1\nreason 2"));
    let outcome = merge(vec![allow(1), ask]);
    assert_eq!((outcome.decision, outcome.reason.as_deref()), (Decision::Ask, Some("really?")));
    assert_eq!(outcome.updated_input, Some(json!({"n": 1})), "a person is asked about what would run");
}

#[test]
fn nothing_said_is_nothing_decided() {
    assert_eq!(merge(Vec::new()), HookOutcome::default());
    assert_eq!(merge(vec![Verdict::default(); 3]), HookOutcome::default());
}
