//! Which proposals of WebAssembly a component needs, found by validating it without each in turn.

use wasmparser::{Validator, WasmFeatures};

/// What every engine has had for years, and nobody asks about.
fn baseline() -> WasmFeatures {
    WasmFeatures::MUTABLE_GLOBAL
        | WasmFeatures::SATURATING_FLOAT_TO_INT
        | WasmFeatures::SIGN_EXTENSION
        | WasmFeatures::FLOATS
        | WasmFeatures::COMPONENT_MODEL
        | WasmFeatures::GC_TYPES
}

const NAMED: [(&str, WasmFeatures); 18] = [
    ("reference-types", WasmFeatures::REFERENCE_TYPES),
    ("multi-value", WasmFeatures::MULTI_VALUE),
    ("bulk-memory", WasmFeatures::BULK_MEMORY),
    ("simd", WasmFeatures::SIMD),
    ("relaxed-simd", WasmFeatures::RELAXED_SIMD),
    ("threads", WasmFeatures::THREADS),
    ("tail-call", WasmFeatures::TAIL_CALL),
    ("multi-memory", WasmFeatures::MULTI_MEMORY),
    ("exceptions", WasmFeatures::EXCEPTIONS),
    ("memory64", WasmFeatures::MEMORY64),
    ("extended-const", WasmFeatures::EXTENDED_CONST),
    ("function-references", WasmFeatures::FUNCTION_REFERENCES),
    ("gc", WasmFeatures::GC),
    ("custom-page-sizes", WasmFeatures::CUSTOM_PAGE_SIZES),
    ("wide-arithmetic", WasmFeatures::WIDE_ARITHMETIC),
    ("stack-switching", WasmFeatures::STACK_SWITCHING),
    ("component-model-async", WasmFeatures::CM_ASYNC),
    ("shared-everything-threads", WasmFeatures::SHARED_EVERYTHING_THREADS),
];

/// The names of the proposals without which the component is not valid, or why it is not valid at all.
pub(super) fn needed(component: &[u8]) -> Result<Vec<&'static str>, wasmparser::BinaryReaderError> {
    let valid_with = |features| Validator::new_with_features(features).validate_all(component).map(drop);
    if valid_with(baseline()).is_ok() {
        return Ok(Vec::new());
    }
    let all = NAMED.iter().fold(baseline(), |features, (_, feature)| features | *feature);
    valid_with(all)?;
    Ok(NAMED.iter().filter(|(_, feature)| valid_with(all - *feature).is_err()).map(|(name, _)| *name).collect())
}
