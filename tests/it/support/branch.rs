//! The HAProxy branches that every behaviour is tried on.

use std::path::PathBuf;

/// A branch of HAProxy whose real binary must be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Branch(pub(crate) u16, pub(crate) u16);

impl Branch {
    /// The program; a missing one fails the test with the remedy.
    pub(crate) fn program(self) -> PathBuf {
        let name = format!("{}.{}", self.0, self.1);
        let folders = std::env::var_os("HAPROXY_BINARIES").map(PathBuf::from).unwrap_or_else(|| {
            std::env::var_os("OUTRIGGER_CACHE")
                .map(PathBuf::from)
                .unwrap_or_else(|| PathBuf::from(std::env::var_os("HOME").unwrap()).join(".cache/outrigger"))
                .join("haproxy")
        });
        let candidates = [folders.join(&name).join("haproxy"), folders.join(format!("haproxy-{name}"))];
        candidates.iter().find(|path| path.exists()).cloned().unwrap_or_else(|| {
            panic!("HAProxy {name} is missing in {}; run scripts/parts/haproxy.sh", folders.display())
        })
    }

    /// Servers are added and removed at run time, not by slots.
    pub(crate) fn has_dynamic_servers(self) -> bool {
        self >= Branch(2, 6)
    }
}

/// Makes one test per branch: `on_every_branch!(name, |bed| async move { … })` gives `name::haproxy_2_2` and so on.
/// An optional list of further flags comes first: `on_every_branch!(name, ["--flag"], |bed| …)`.
macro_rules! on_every_branch {
    ($name:ident, $body:expr) => {
        on_every_branch!($name, [], $body);
    };
    ($name:ident, [$($flag:expr),* $(,)?], $body:expr) => {
        mod $name {
            use super::*;
            on_branch!(haproxy_2_2, Branch(2, 2), [$($flag),*], $body);
            on_branch!(haproxy_2_6, Branch(2, 6), [$($flag),*], $body);
            on_branch!(haproxy_3_0, Branch(3, 0), [$($flag),*], $body);
            on_branch!(haproxy_3_2, Branch(3, 2), [$($flag),*], $body);
            on_branch!(haproxy_3_4, Branch(3, 4), [$($flag),*], $body);
        }
    };
}

/// One test on one branch.
macro_rules! on_branch {
    ($name:ident, $branch:expr, [$($flag:expr),*], $body:expr) => {
        #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn $name() {
            let bed = crate::support::Bed::start($branch, &[$($flag),*] as &[&str]).await;
            let body: fn(std::sync::Arc<crate::support::Bed>) -> _ = $body;
            let bed = std::sync::Arc::new(bed);
            body(bed.clone()).await;
            bed.check_after_test().await;
        }
    };
}
