//! The integration tests: one binary, real parts. `cargo test --test it NAME` runs one.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::format_push_string,
    clippy::unused_async,
    clippy::unwrap_in_result,
    clippy::unused_self,
    clippy::format_collect,
    clippy::match_same_arms,
    clippy::map_unwrap_or,
    clippy::use_self,
    reason = "a test that cannot go on ends, and says why"
)]

#[macro_use]
mod support;

mod arch;
mod cli;
mod cluster;
mod endpoints;
mod global_keys;
mod lifecycle;
mod listeners;
mod load;
mod problems;
mod routes;
mod services;
mod tcp_services;
mod tls;
