//! Tests on a real one-node Kubernetes, which they bring up themselves. `cargo test --test cluster NAME` runs one.
//!
//! All tests share the node; each has Kubernetes namespaces of its own ([`support::Space`]). A test that must have the node
//! for itself (it measures under load, or takes a part of the cluster away) asks with [`support::Node::alone`], all
//! others with [`support::Node::shared`].
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::format_push_string,
    clippy::unwrap_in_result,
    reason = "a test that cannot go on ends, and says why"
)]

mod support;

mod autopilot;
mod drain;
mod failures;
mod images;
mod install;
mod node;
mod pod;
mod profiles;
mod rights;
mod upgrades;
mod values;
