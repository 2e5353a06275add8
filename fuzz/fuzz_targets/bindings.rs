#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| dsh_env_fuzz::bindings::run(bytes));
