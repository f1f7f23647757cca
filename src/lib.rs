//! Outrigger: a Kubernetes ingress controller that drives an unmodified HAProxy over its master CLI.
//!
//! ```text
//!         watch            translate              render         plan              apply            control/report
//!  k8s ─▶ Snapshot ─▶ (Model, Problems) ─▶ Texts ─▶ Plan: a verdict per unit ─▶ Outcome ─▶ log
//!  files    │  ▲ options                    ▲          ▲                       │
//!           │                               │          │ running Texts         │
//!           └──────── pure, synchronous, no clock ─────┘◀──────────────────────┘
//! ```
//!
//! Modules in reading order; `ARCHITECTURE.md` has the story.

pub mod cluster;
pub mod options;
pub mod problem;

pub mod model;
pub mod plan;
pub mod quarantine;
pub mod render;
pub mod translate;

pub mod haproxy;
pub mod watch;

pub mod apply;

pub mod control;
pub mod metrics;
pub mod report;

pub mod admin;
pub mod cli;
