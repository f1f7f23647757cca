//! One run: load, start, change, and what a client sees of it.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a benchmark that cannot go on ends")]

use std::net::Ipv4Addr;
use std::time::{Duration, Instant};

use tokio::task::JoinSet;
use tokio::time::{interval, sleep};

use super::apiserver::ApiServer;
use super::client::{Answer, Connection, get};
use super::controller::Controller;
use super::objects::{Objects, domain, own, pods};

const NEW_SERVICES: usize = 10;
const NEW_HOSTS: usize = 20;
const ENDPOINT_CHANGES: usize = 40;
/// The client asks again after this.
const PAUSE: Duration = Duration::from_millis(1);
/// A change that takes longer never comes.
const DEADLINE: Duration = Duration::from_mins(1);
/// With servers in turn, this many answers in a row without an old pod mean that none is left.
const IN_A_ROW: usize = 12;
/// Hosts that are asked while the start is measured; all of them are asked right after it.
const SAMPLE: usize = 500;
const LOAD: Duration = Duration::from_secs(20);
const REQUESTS: usize = 6_000;
/// Connections of the load; every second one is kept, the others are new for each request.
const CLIENTS: usize = 6;
const CHURN: usize = 86;

/// What one size came to. Times are in milliseconds unless they say otherwise.
#[derive(Debug, Default)]
pub(crate) struct Results {
    pub(crate) size: usize,
    pub(crate) start_seconds: f64,
    pub(crate) new_service: Vec<f64>,
    pub(crate) new_host: Vec<f64>,
    pub(crate) replaced: Vec<f64>,
    pub(crate) added: Vec<f64>,
    /// How long the API server took to answer the change itself, in `new_host` and in `replaced`.
    pub(crate) api: [Vec<f64>; 2],
    /// For new Services, new hosts, endpoint changes, and the churn.
    pub(crate) reloads: [u32; 4],
    pub(crate) requests: usize,
    pub(crate) failures: Vec<String>,
    pub(crate) memory: (f64, f64),
    /// CPU milliseconds of the controller for one endpoint change, and for one new host.
    pub(crate) cpu_of_change: [f64; 2],
    pub(crate) cpu_seconds: f64,
    pub(crate) haproxy: String,
}

/// Measures one size from an empty API server on.
pub(crate) async fn run(size: usize) -> Results {
    let server = ApiServer::start().await;
    let loading = Instant::now();
    let objects = Objects::load(server.client().await, size).await;
    say(size, &format!("{} objects loaded in {:.1} s", size * 3, loading.elapsed().as_secs_f64()));

    let started = Instant::now();
    let controller = Controller::start(&server.kubeconfig());
    let mut results =
        Results { size, start_seconds: start(size, started, &controller).await, ..Results::default() };
    say(size, &format!("started in {:.2} s, memory {:?} MiB", results.start_seconds, controller.memory()));
    results.haproxy = controller.processes().await.master.version_text;

    let mut run = Run { size, objects, controller, spare: size, api: Vec::new() };
    run.controller.settle().await;
    let before = run.controller.reloads().await;
    results.new_service = run.new_services().await;
    run.controller.settle().await;
    let services = run.controller.reloads().await;
    let cpu = run.controller.cpu();
    results.new_host = run.new_hosts().await;
    results.cpu_of_change[1] = (run.controller.cpu() - cpu) * 1e3 / NEW_HOSTS as f64;
    results.api[0] = std::mem::take(&mut run.api);
    let hosts = run.controller.reloads().await;
    let cpu = run.controller.cpu();
    results.replaced = run.replaced().await;
    results.api[1] = std::mem::take(&mut run.api);
    results.added = run.added().await;
    results.cpu_of_change[0] = (run.controller.cpu() - cpu) * 1e3 / (2 * ENDPOINT_CHANGES) as f64;
    let endpoints = run.controller.reloads().await;
    run.controller.settle().await;
    say(size, "changes done, churn begins");
    (results.requests, results.failures) = run.churn().await;
    results.reloads =
        [services - before, hosts - services, endpoints - hosts, run.controller.reloads().await - endpoints];
    results.memory = run.controller.memory();
    results.cpu_seconds = run.controller.cpu();
    say(size, &format!("{} of {} requests failed", results.failures.len(), results.requests));
    results.failures.iter().take(5).for_each(|failure| say(size, failure));
    results
}

fn say(size: usize, text: &str) {
    eprintln!("{size}: {text}");
}

/// Seconds until a sample of hosts, spread, answers; then all of them must.
async fn start(size: usize, started: Instant, controller: &Controller) -> f64 {
    let step = (size / SAMPLE).max(1);
    let sample = (0..size).step_by(step).chain([size - 1]);
    for index in sample {
        until(&own(index), started, controller, |answer| answer.status == 200).await;
    }
    let seconds = started.elapsed().as_secs_f64();
    let mut connection = Connection::default();
    for index in 0..size {
        let answer = connection.get(&domain(&own(index))).await;
        let right = answer
            .as_ref()
            .is_ok_and(|a| a.status == 200 && a.pod.is_some_and(|pod| pods(index).contains(&pod)));
        assert!(right, "{} after the start: {answer:?}", own(index));
    }
    seconds
}

/// Asks until the answer is right; milliseconds since `since`.
async fn until(host: &str, since: Instant, controller: &Controller, right: impl Fn(&Answer) -> bool) -> f64 {
    let host = domain(host);
    loop {
        let answer = get(&host).await;
        let now = since.elapsed();
        if answer.as_ref().is_ok_and(&right) {
            return now.as_secs_f64() * 1e3;
        }
        assert!(now < DEADLINE, "{host} still gives {answer:?}\n{}", controller.log_tail());
        sleep(PAUSE).await;
    }
}

struct Run {
    size: usize,
    objects: Objects,
    controller: Controller,
    /// Index of the next pods that nobody has yet.
    spare: usize,
    /// How long the API server took to answer.
    api: Vec<f64>,
}

impl Run {
    fn new_pods(&mut self) -> [Ipv4Addr; 3] {
        self.spare += 1;
        pods(self.spare)
    }

    /// Services of the load, spread over all of them.
    fn service(&self, number: usize) -> String {
        own(number * 7_919 % self.size)
    }

    async fn new_services(&mut self) -> Vec<f64> {
        let mut times = Vec::new();
        for number in 0..NEW_SERVICES {
            let (name, pods) = (format!("new-service-{number}"), self.new_pods());
            let since = Instant::now();
            let (time, ()) = tokio::join!(
                until(&name, since, &self.controller, |answer| answer.status == 200),
                self.objects.add_service(&name, pods),
            );
            times.push(time);
        }
        times
    }

    async fn new_hosts(&mut self) -> Vec<f64> {
        let mut times = Vec::new();
        for number in 0..NEW_HOSTS {
            let (name, service) = (format!("new-host-{number}"), self.service(number));
            let since = Instant::now();
            let (time, ()) = tokio::join!(
                until(&name, since, &self.controller, |answer| answer.status == 200),
                timed(&mut self.api, since, self.objects.add_host(&name, &service)),
            );
            times.push(time);
        }
        times
    }

    async fn replaced(&mut self) -> Vec<f64> {
        let mut times = Vec::new();
        for number in 0..ENDPOINT_CHANGES {
            let (name, pods) = (self.service(100 + number), self.new_pods());
            let since = Instant::now();
            let (time, ()) = tokio::join!(
                only(&name, since, &self.controller, &pods),
                timed(&mut self.api, since, self.objects.set_endpoints(&name, &pods)),
            );
            times.push(time);
        }
        times
    }

    async fn added(&mut self) -> Vec<f64> {
        let mut times = Vec::new();
        for number in 0..ENDPOINT_CHANGES {
            let index = (200 + number) * 7_919 % self.size;
            let (name, new) = (own(index), self.new_pods()[0]);
            let [a, b, c] = pods(index);
            let four = [a, b, c, new];
            let since = Instant::now();
            let (time, ()) = tokio::join!(
                until(&name, since, &self.controller, |answer| answer.pod == Some(new)),
                self.objects.set_endpoints(&name, &four),
            );
            times.push(time);
        }
        times
    }

    /// Requests at a steady pace while services, hosts and endpoints change; how many, and what went wrong.
    async fn churn(&mut self) -> (usize, Vec<String>) {
        let mut clients = JoinSet::new();
        for client in 0..CLIENTS {
            let hosts: Vec<String> = (0..20).map(|number| domain(&self.service(300 + number))).collect();
            clients.spawn(load(client, hosts));
        }
        let mut pace = interval(LOAD / u32::try_from(CHURN).unwrap());
        for number in 0..CHURN {
            pace.tick().await;
            let pods = self.new_pods();
            match number % 8 {
                0 => self.objects.add_service(&format!("churn-service-{number}"), pods).await,
                1 | 5 => {
                    self.objects.add_host(&format!("churn-host-{number}"), &self.service(300 + number)).await;
                }
                _ => self.objects.set_endpoints(&self.service(300 + number % 20), &pods).await,
            }
        }
        let (mut requests, mut failures) = (0, Vec::new());
        for (sent, failed) in clients.join_all().await {
            requests += sent;
            failures.extend(failed);
        }
        (requests, failures)
    }
}

async fn timed(times: &mut Vec<f64>, since: Instant, call: impl Future<Output = ()>) {
    call.await;
    times.push(since.elapsed().as_secs_f64() * 1e3);
}

/// Milliseconds until the first of many answers in a row from the new pods only.
async fn only(host: &str, since: Instant, controller: &Controller, new: &[Ipv4Addr]) -> f64 {
    let (mut first, mut in_a_row) = (0.0, 0);
    while in_a_row < IN_A_ROW {
        let answer = get(&domain(host)).await;
        let now = since.elapsed();
        if answer.as_ref().is_ok_and(|answer| answer.pod.is_some_and(|pod| new.contains(&pod))) {
            if in_a_row == 0 {
                first = now.as_secs_f64() * 1e3;
            }
            in_a_row += 1;
        } else {
            in_a_row = 0;
            assert!(now < DEADLINE, "{host} still gives {answer:?}\n{}", controller.log_tail());
        }
        sleep(PAUSE).await;
    }
    first
}

/// A client's share of the load.
async fn load(client: usize, hosts: Vec<String>) -> (usize, Vec<String>) {
    let count = REQUESTS / CLIENTS;
    let mut pace = interval(LOAD / u32::try_from(count).unwrap());
    let mut kept = Connection::default();
    let mut failures = Vec::new();
    for number in 0..count {
        pace.tick().await;
        let host = &hosts[(number * CLIENTS + client) % hosts.len()];
        let answer = if client.is_multiple_of(2) { kept.get(host).await } else { get(host).await };
        if !answer.as_ref().is_ok_and(|answer| answer.status == 200) {
            failures.push(format!("request {number} of client {client} to {host}: {answer:?}"));
        }
    }
    (count, failures)
}
