//! What a test of this folder gets: the API server, its client, and controllers that watch it.

use std::collections::BTreeSet;
use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicU16, Ordering};

use k8s_openapi::api::core::v1::{ConfigMap, Secret, Service};
use k8s_openapi::api::discovery::v1::EndpointSlice;
use k8s_openapi::api::networking::v1::{Ingress, IngressClass};
use k8s_openapi::api::rbac::v1::ClusterRole;
use kube::api::{DeleteParams, ListParams};
use kube::{Api, Client};
use tokio::sync::{Mutex, MutexGuard};

use super::apiserver::{ApiServer, USERS};
use super::space::Space;
use super::{namespace, objects};
use crate::support::{Bed, Branch, Echo, until};

/// The branch that most of these tests run on: what differs per branch is tested with manifests.
pub(super) const BRANCH: Branch = Branch(3, 2);
/// The port of every pod: each has an address of its own.
const POD_PORT: u16 = 8080;

/// One server for all tests, one test at a time; it ends with the process.
static SERVER: Mutex<State> = Mutex::const_new(State { server: None, used: BTreeSet::new() });

struct State {
    server: Option<ApiServer>,
    /// The namespaces that have been used.
    used: BTreeSet<String>,
}

/// The API server and a client that may do everything.
pub(super) struct Lab {
    state: MutexGuard<'static, State>,
    pub(super) client: Client,
}

/// Runs a test inside the namespace, on an API server without anybody's objects.
pub(super) fn run(test: impl AsyncFnOnce(&mut Lab) + Send + 'static) {
    let inside = std::thread::spawn(|| {
        namespace::enter();
        // The runtime's threads are made from this one, and so are inside as well.
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        runtime.block_on(async { test(&mut Lab::get().await).await });
    });
    if let Err(panic) = inside.join() {
        std::panic::resume_unwind(panic);
    }
}

impl Lab {
    async fn get() -> Self {
        let mut state = SERVER.lock().await;
        match &mut state.server {
            // A test that failed may have left it stopped.
            Some(server) => server.resume_if_stopped().await,
            None => state.server = Some(ApiServer::start().await),
        }
        let client = state.server.as_ref().unwrap().client().await;
        let lab = Self { state, client };
        lab.clean().await;
        lab
    }

    /// Removes what earlier tests have left. There is no namespace controller, so that namespaces themselves stay.
    async fn clean(&self) {
        for namespace in &self.state.used {
            clear(&Api::<Ingress>::namespaced(self.client.clone(), namespace)).await;
            clear(&Api::<Service>::namespaced(self.client.clone(), namespace)).await;
            clear(&Api::<EndpointSlice>::namespaced(self.client.clone(), namespace)).await;
            clear(&Api::<Secret>::namespaced(self.client.clone(), namespace)).await;
            clear(&Api::<ConfigMap>::namespaced(self.client.clone(), namespace)).await;
        }
        clear(&Api::<IngressClass>::all(self.client.clone())).await;
        let roles = Api::<ClusterRole>::all(self.client.clone());
        for user in USERS {
            if roles.get_opt(user).await.unwrap().is_some() {
                objects::allow(&self.client, user, &[]).await;
            }
        }
    }

    /// A namespace, made when it does not exist.
    pub(super) async fn space(&mut self, name: &str) -> Space {
        objects::namespaces(&self.client, &[name]).await;
        self.state.used.insert(name.to_owned());
        Space::new(self.client.clone(), name)
    }

    pub(super) fn server(&mut self) -> &mut ApiServer {
        self.state.server.as_mut().unwrap()
    }

    /// The flag that makes a program this user of the API server.
    pub(super) fn kubeconfig(&self, user: &str) -> String {
        format!("--kubeconfig={}", self.state.server.as_ref().unwrap().kubeconfig_of(user).display())
    }

    /// A controller that may do everything, with a HAProxy that is ready.
    pub(super) async fn bed(&self, branch: Branch, flags: &[&str]) -> Bed {
        let kubeconfig = self.kubeconfig("admin");
        let flags: Vec<&str> = flags.iter().copied().chain([kubeconfig.as_str()]).collect();
        Bed::start(branch, &flags).await
    }

    /// A controller of this user; not waited for.
    pub(super) fn unready_bed(&self, user: &str) -> Bed {
        Bed::start_unready(BRANCH, &[&self.kubeconfig(user)])
    }
}

async fn clear<K>(api: &Api<K>)
where
    K: Clone + serde::de::DeserializeOwned + std::fmt::Debug,
{
    api.delete_collection(&DeleteParams::default(), &ListParams::default()).await.unwrap();
}

/// A pod: an echo server with an address of its own.
pub(super) async fn pod(name: &str) -> Echo {
    static NEXT: AtomicU16 = AtomicU16::new(1);
    let [high, low] = NEXT.fetch_add(1, Ordering::Relaxed).to_be_bytes();
    Echo::start_at(name, Ipv4Addr::new(10, 200, high, low).into(), POD_PORT).await
}

/// How many updates the log tells of, from this place on.
pub(super) fn updates(bed: &Bed, from: usize) -> usize {
    bed.log()[from..].matches("starting haproxy update").count()
}

/// Master, worker that serves, reloads of the master, once no update is under way: the new worker answers requests before
/// the master names it (2.2), and before the old one is gone.
pub(super) async fn processes(bed: &Bed) -> (u32, u32, u32) {
    until("the update under way to end", || async {
        let log = bed.log();
        let count = |text| log.matches(text).count();
        let (started, finished) = (count("starting haproxy update"), count("finish haproxy update"));
        if started == finished { Ok(()) } else { Err(bed.log_tail()) }
    })
    .await;
    bed.processes().await
}
