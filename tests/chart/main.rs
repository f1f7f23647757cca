//! The Helm chart: what it renders, what it refuses, and that a real API server takes it.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on ends"
)]

#[path = "../support/apiserver.rs"]
mod apiserver;

mod admission;
mod deploy;
mod flags;
mod helm;
mod pod;
mod ports;
mod refused;
mod rights;
mod values;
