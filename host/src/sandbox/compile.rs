//! From bytes that anybody may have written to code that can be called.

use wasmtime::Engine;
use wasmtime::component::Component;

use super::survey::Survey;
use super::{componentize, loaded};
use crate::error::{Code, Error, Result};
use crate::text::shown;

/// Compiles a component, or a core module that can become one. To be [guarded](super::guarded).
///
/// # Errors
/// What is wrong with the bytes.
pub(super) fn compile(engine: &Engine, bytes: &[u8]) -> Result<Component> {
    let component = componentize::component(bytes)?;
    let survey = Survey::of(&component)?;
    loaded::check_world(&survey)?;
    survey.check()?;
    Component::from_binary(engine, &component).map_err(|error| refused(&format!("{error:#}")))
}

/// What the engine says of a component that it does not take.
fn refused(words: &str) -> Error {
    let shown = shown(words);
    if words.contains("implementation limit")
        || words.contains("Implementation limit")
        || words.contains("Code for function is too large")
    {
        return Error::load(
            Code::CompileLimit,
            format!("it is more than the compiler takes ({shown}): split its largest functions"),
        );
    }
    Error::load(
        Code::Malformed,
        format!("the engine does not take it ({shown}): build it again, without experimental features of WebAssembly"),
    )
}
