use super::*;
use crate::error::Code;
use std::process::Command;

/// Starts `true` with an environment and arguments that the kernel refuses.
fn refused(environment: &ChildEnvironment, arguments: &[OsString]) -> std::io::Error {
    let mut command = Command::new("/bin/true");
    command.args(arguments).env_clear().envs(environment.iter());
    command.status().unwrap_err()
}

#[test]
fn an_environment_that_the_kernel_refuses_is_explained_by_its_largest_variables() {
    let value = "v".repeat(200_000);
    let inherited: Vec<_> = (1..=7).map(|n| (format!("N{n}"), value[..n * 20_000].to_owned())).collect();
    let mut inherited: Vec<_> = inherited.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    inherited.push(("small", "s"));
    let environment = bare(&inherited).without_overlay();
    let error = explain_too_large(&refused(&environment, &[]), &environment, &["-c".into()]).unwrap();
    assert_eq!(error.code(), Code::EnvironmentTooLarge);
    insta::assert_snapshot!(error.message());
}

#[test]
fn a_long_argument_is_named_as_a_cause_of_its_own() {
    let environment = bare(&[("A", "a")]).without_overlay();
    let arguments: [OsString; 2] = ["-c".into(), "x".repeat(150_000).into()];
    let error = explain_too_large(&refused(&environment, &arguments), &environment, &arguments).unwrap();
    assert!(error.message().contains("One argument has 150001 bytes"), "{error}");
    assert!(error.message().contains("A (4 bytes)"), "{error}");
}

#[test]
fn another_failure_is_not_explained_by_the_environment() {
    let failure = Command::new("/no/such/program").status().unwrap_err();
    assert!(explain_too_large(&failure, &bare(&[]).without_overlay(), &[]).is_none());
}

#[test]
fn the_explanation_shows_no_value_and_no_control_characters() {
    let environment = bare(&[("N\u{1b}[31m", "the value")]).without_overlay();
    let failure = std::io::Error::from(std::io::ErrorKind::ArgumentListTooLong);
    let error = explain_too_large(&failure, &environment, &[]).unwrap();
    assert!(error.message().contains("N\\u{1b}[31m"), "{error}");
    assert!(!error.message().contains("the value"), "{error}");
}
