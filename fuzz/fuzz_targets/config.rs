//! Arbitrary annotations and ConfigMap data through translation and rendering.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../tests/support/config_input.rs"]
mod config_input;

fuzz_target!(|input: &[u8]| {
    config_input::check(&config_input::decode(input));
});
