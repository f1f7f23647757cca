//! What the tests stand on: the real `outrigger` binary driving a real HAProxy, echo servers, and HTTP clients.

pub(crate) mod authority;
pub(crate) mod bed;
#[macro_use]
pub(crate) mod branch;
pub(crate) mod certificates;
pub(crate) mod client;
#[path = "../support/config_input.rs"]
pub(crate) mod config_input;
pub(crate) mod echo;
pub(crate) mod load;
pub(crate) mod manifests;
pub(crate) mod scripted;
pub(crate) mod tls_echo;

use std::future::Future;
use std::time::{Duration, Instant};

pub(crate) use bed::Bed;
pub(crate) use branch::Branch;
pub(crate) use echo::Echo;
pub(crate) use scripted::Scripted;

/// How long a condition may take to become true. Generous: the machine may be busy; nothing waits this long when it works.
pub(crate) const DEADLINE: Duration = Duration::from_secs(30);

/// Waits until `condition` gives `Ok`; panics with its last `Err` when the deadline passes.
pub(crate) async fn until<T, F>(what: &str, mut condition: impl FnMut() -> F) -> T
where
    F: Future<Output = Result<T, String>>,
{
    let start = Instant::now();
    loop {
        match condition().await {
            Ok(value) => return value,
            Err(last) if start.elapsed() > DEADLINE => {
                panic!("waited {DEADLINE:?} for {what}; last seen: {last}")
            }
            Err(_) => tokio::time::sleep(Duration::from_millis(10)).await,
        }
    }
}

/// A port that was free a moment ago.
pub(crate) fn free_port() -> u16 {
    use std::collections::BTreeSet;
    use std::sync::Mutex;
    // Ports given out by this process are not given out twice; another process may still take one, which the
    // controller reports as a port-unavailable problem.
    static GIVEN: Mutex<BTreeSet<u16>> = Mutex::new(BTreeSet::new());
    loop {
        let port = std::net::TcpListener::bind(("0.0.0.0", 0)).unwrap().local_addr().unwrap().port();
        if GIVEN.lock().unwrap().insert(port) {
            return port;
        }
    }
}
