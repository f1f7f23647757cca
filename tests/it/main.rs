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

mod access;
mod arch;
mod bad_input;
mod cases;
mod cli;
mod cluster;
mod endpoints;
mod examples;
mod external_auth;
mod global_keys;
mod lifecycle;
mod listeners;
mod load;
mod metrics;
mod pages;
mod parity;
mod pprof;
mod problems;
mod registry;
mod rewriting;
mod routes;
mod routing;
mod servers;
mod services;
mod snippets;
mod tcp_services;
mod tls;
mod tls_keys;
