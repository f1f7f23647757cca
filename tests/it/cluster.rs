//! The real `outrigger` binary on a real kube-apiserver with its etcd, driving a real HAProxy.
//!
//! The API server refuses loopback addresses in an EndpointSlice, so everything here lives in a network namespace of its own
//! where all of 10.200.0.0/16 is local ([`namespace`]). One API server serves all tests of the process, one test at a time.

#[path = "../support/apiserver.rs"]
pub(crate) mod apiserver;
mod classes;
mod external_mode;
mod flags;
mod foo_bar;
mod lab;
mod many;
mod namespace;
#[path = "../cluster_source/objects.rs"]
#[allow(dead_code, reason = "shared with the tests of the source, which use the rest")]
mod objects;
mod outage;
mod render;
mod report;
mod restart;
mod rights;
mod selection;
mod space;
