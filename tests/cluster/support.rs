//! What the tests stand on: the node, namespaces on it, and clients in its network.

pub(crate) mod dns;
pub(crate) mod http;
pub(crate) mod inside;
pub(crate) mod load;
pub(crate) mod node;
pub(crate) mod process;
pub(crate) mod space;

use std::time::{Duration, Instant};

pub(crate) use http::get;
pub(crate) use node::Node;
pub(crate) use space::{Security, Space};

/// How long a condition may take to become true. Generous: the machine may be busy; nothing waits this long when it works.
pub(crate) const DEADLINE: Duration = Duration::from_mins(3);

/// Waits until `condition` gives `Ok`; panics with its last `Err` when the deadline passes.
pub(crate) fn until<T>(
    what: &str,
    deadline: Duration,
    mut condition: impl FnMut() -> Result<T, String>,
) -> T {
    let start = Instant::now();
    loop {
        match condition() {
            Ok(value) => return value,
            Err(last) if start.elapsed() > deadline => {
                panic!("waited {deadline:?} for {what}; last seen: {last}")
            }
            Err(_) => std::thread::sleep(Duration::from_millis(50)),
        }
    }
}
