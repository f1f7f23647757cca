//! The pure core at 1,000 and 10,000 Ingresses: what an update costs in CPU, without any edge.
//!
//! Each Ingress has one host and one path and a Service of its own with 3 endpoints. `cargo bench --bench core [SIZE…]`.
//! A second table has the same cluster where every other Ingress uses five keys.
#![allow(clippy::unwrap_used, reason = "a benchmark that cannot go on ends")]
#![allow(clippy::print_stdout, reason = "its output is the table")]

use std::collections::BTreeSet;
use std::hint::black_box;
use std::net::{IpAddr, Ipv4Addr};
use std::time::{Duration, Instant};

use bytes::Bytes;
use outrigger::cluster::{
    Change, Endpoint, EndpointPort, EndpointSlice, Ingress, IngressBackend, IngressClass, IngressPath,
    IngressRule, Kind, Object, ObjectName, PathType, PortRef, Service, ServicePort, Snapshot,
};
use outrigger::model::{Capabilities, Listeners, Version};
use outrigger::plan::{FileId, Plan, Texts, Units, plan};
use outrigger::render::Renderer;
use outrigger::translate::{Settings, Translator};
use outrigger_init::Volumes;

/// That of the program.
#[global_allocator]
static ALLOCATOR: outrigger_profiler::Allocator = outrigger_profiler::Allocator;

const SIZES: [usize; 2] = [1_000, 10_000];
const CONTROLLER: &str = "outrigger.dev/ingress-controller";
/// How often a single change is made; the median counts.
const ROUNDS: usize = 501;
/// Like the address of pods: the controller forms none of its own.
const PODS: u32 = 0x0A_C8_00_00;
/// The CPU for one endpoint change at the largest size may be this many times that at the smallest.
const ALLOWED: f64 = 2.0;
/// The same for a cluster where half of the Ingresses use five keys, beside the plain one.
const ALLOWED_WITH_KEYS: f64 = 3.0;

fn main() {
    // cargo adds `--bench`.
    let sizes: Vec<usize> =
        std::env::args().skip(1).filter_map(|size| size.replace(',', "").parse().ok()).collect();
    let sizes = if sizes.is_empty() { SIZES.to_vec() } else { sizes };
    let columns: Vec<Vec<(&str, Duration)>> = sizes.iter().map(|&size| column(size)).collect();

    print!("| core, µs |");
    for size in &sizes {
        print!(" {size} Ingresses |");
    }
    println!(" last / first |");
    println!("|---|{}---|", "---|".repeat(sizes.len()));
    let times = |row: usize| columns.iter().map(move |column| column[row].1.as_secs_f64() * 1e6);
    let ratio = |row: usize| times(row).next_back().unwrap() / times(row).next().unwrap();
    for (row, (name, _)) in columns[0].iter().enumerate() {
        print!("| {name} |");
        times(row).for_each(|time| print!(" {time:.1} |"));
        println!(" {:.1} |", ratio(row));
    }
    for (row, (name, _)) in columns[0]
        .iter()
        .enumerate()
        .filter(|(_, (name, _))| name.starts_with("one endpoint") && !name.contains("shard"))
    {
        let ratio = ratio(row);
        let verdict = if ratio <= ALLOWED { "PASS" } else { "over" };
        println!("{name}: {ratio:.2} times as much (at most {ALLOWED}): {verdict}");
    }
    keys(*sizes.last().unwrap());
}

/// Five keys on every other Ingress: what a full translation and rendering takes beside the plain cluster, the median of some.
fn keys(size: usize) {
    let full = |ingress: fn(usize) -> Object| {
        let rounds = (0..5).map(|_| {
            let rows = World::new().cold(size, ingress);
            rows[1].1 + rows[2].1
        });
        median(rounds.collect())
    };
    let (plain, keyed) = (full(plain), full(every_other_with_keys));
    let ratio = keyed.as_secs_f64() / plain.as_secs_f64();
    let verdict = if ratio <= ALLOWED_WITH_KEYS { "PASS" } else { "over" };
    println!("\n| {size} Ingresses, translate + render | µs |\n|---|---|");
    println!("| plain | {:.1} |\n| half of them with five keys | {:.1} |", micros(plain), micros(keyed));
    println!("with keys: {ratio:.2} times as much (at most {ALLOWED_WITH_KEYS}): {verdict}");
}

fn micros(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e6
}

/// The rows of one size.
fn column(size: usize) -> Vec<(&'static str, Duration)> {
    let mut world = World::new();
    let mut rows = world.cold(size, plain);

    // Everything runs now. From here on one object changes at a time.
    let changes =
        |index: usize, round: usize| slice(index, [0, 1, 60_000 + u32::try_from(round % 5_000).unwrap()]);
    let (core, text) = world.many(size, changes);
    rows.extend([
        ("one endpoint changed: snapshot, translate, render, plan", core),
        ("one endpoint changed: text of its shard", text),
        ("one endpoint changed = all of it", core + text),
    ]);
    let (core, text) = world.many(size, |index, round| ingress(&format!("new-{round}"), index));
    rows.extend([
        ("new Ingress on a Service: snapshot, translate, render, plan", core),
        ("new Ingress on a Service: text of the map", text),
        ("new Ingress on a Service = all of it", core + text),
    ]);
    rows
}

/// The controller without its edges.
struct World {
    snapshot: Snapshot,
    translator: Translator,
    renderer: Renderer,
    wanted: Texts,
    running: Texts,
    capabilities: Capabilities,
    volumes: Volumes,
}

impl World {
    fn new() -> Self {
        let capabilities = Capabilities::of(Version { major: 3, minor: 2 }).unwrap();
        let volumes = Volumes::default();
        Self {
            snapshot: Snapshot::default(),
            translator: Translator::new(settings()),
            renderer: Renderer::new(volumes.clone(), capabilities),
            wanted: Texts::default(),
            running: Texts::default(),
            capabilities,
            volumes,
        }
    }

    /// From nothing to everything.
    fn cold(&mut self, size: usize, ingress: fn(usize) -> Object) -> Vec<(&'static str, Duration)> {
        let class = IngressClass {
            name: "outrigger".into(),
            created: 0,
            controller: CONTROLLER.into(),
            is_default: true,
        };
        let lists: [(Kind, Vec<Object>); 4] = [
            (Kind::IngressClass, vec![Object::IngressClass(class)]),
            (Kind::Service, (0..size).map(service).collect()),
            (Kind::EndpointSlice, (0..size).map(|index| slice(index, [0, 1, 2])).collect()),
            (Kind::Ingress, (0..size).map(ingress).collect()),
        ];
        let mut changed = BTreeSet::new();
        let start = Instant::now();
        for (kind, objects) in lists {
            self.snapshot.apply(Change::Relist { kind, namespace: None, objects }, &mut changed);
        }
        let listed = Instant::now();
        let update = self.translator.update(&self.snapshot, &changed);
        let translated = Instant::now();
        self.renderer.refresh(self.translator.model(), &update.touched, &self.running, &mut self.wanted);
        let rendered = Instant::now();
        let all = plan(&self.running, &self.wanted, &Units::All, self.capabilities);
        let planned = Instant::now();
        let ids = self.wanted.files();
        let bytes: usize =
            ids.iter().filter_map(|id| self.wanted.file(id, &self.volumes)).map(|b| b.len()).sum();
        let written = Instant::now();

        assert_eq!(update.problems_added, [], "the benchmark's own objects are right");
        // Spare backends stand beside those of the Services.
        let of_services = self.wanted.backends.iter().filter(|(name, _)| !name.is_spare()).count();
        assert_eq!((of_services, all.waiting.len() > size), (size, true));
        assert!(bytes > size * 100, "{bytes} bytes for {size} Ingresses");
        self.running = self.wanted.clone();
        let again = plan(&self.running, &self.wanted, &Units::All, self.capabilities);
        assert!(again.is_empty(), "what runs is what is wanted");
        vec![
            ("cold: snapshot of the lists", listed - start),
            ("cold: translate", translated - listed),
            ("cold: render", rendered - translated),
            ("cold: plan", planned - rendered),
            ("cold: texts of all files", written - planned),
            ("cold = all of it", written - start),
        ]
    }

    /// Many single changes, spread over all Ingresses: the median of an update, and of the text of the file it writes.
    fn many(&mut self, size: usize, change: impl Fn(usize, usize) -> Object) -> (Duration, Duration) {
        let mut core = Vec::with_capacity(ROUNDS);
        let mut text = Vec::with_capacity(ROUNDS);
        for round in 0..ROUNDS {
            let object = change(round * 7_919 % size, round);
            let start = Instant::now();
            let plan = self.update(object);
            let planned = Instant::now();
            let files: BTreeSet<FileId> = plan.steps.iter().flat_map(|step| step.unit.files()).collect();
            for id in &files {
                black_box(self.running.file(id, &self.volumes));
            }
            let written = Instant::now();
            assert!(plan.reload.is_empty() && !plan.steps.is_empty(), "{plan:?}");
            core.push(planned - start);
            text.push(written - planned);
        }
        (median(core), median(text))
    }

    /// What `control` does with one event, up to the files and the socket.
    fn update(&mut self, object: Object) -> Plan {
        let mut changed = BTreeSet::new();
        self.snapshot.apply(Change::Upsert(object), &mut changed);
        let update = self.translator.update(&self.snapshot, &changed);
        let model = self.translator.model();
        let units = self.renderer.refresh(model, &update.touched, &self.running, &mut self.wanted);
        let plan = plan(&self.running, &self.wanted, &units, self.capabilities);
        for step in &plan.steps {
            self.running.adopt(&self.wanted, &step.unit);
        }
        plan
    }
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

fn settings() -> Settings {
    let listeners = Listeners {
        ipv4: Some(Ipv4Addr::UNSPECIFIED),
        ipv6: None,
        http: Some(8080),
        https: Some(8443),
        stats: 1024,
        healthz: 1042,
    };
    Settings::new(CONTROLLER, listeners, Bytes::from_static(b"fallback"))
}

fn name(name: &str) -> ObjectName {
    ObjectName::new("bench", name)
}

fn service(index: usize) -> Object {
    Object::Service(Service {
        name: name(&format!("s-{index}")),
        annotations: [].into(),
        external_name: None,
        publish_not_ready: false,
        ports: vec![ServicePort { name: Some("http".into()), port: 80, app_protocol: None }],
    })
}

/// The slice of a Service; its pods are at `index * 3` plus these.
fn slice(index: usize, pods: [u32; 3]) -> Object {
    let first = PODS + u32::try_from(index).unwrap() * 3;
    let endpoints = pods.map(|pod| Endpoint {
        address: IpAddr::V4(Ipv4Addr::from_bits(first + pod)),
        ready: true,
        serving: true,
        terminating: false,
        pod: Some(format!("pod-{index}-{pod}").into()),
    });
    Object::EndpointSlice(EndpointSlice {
        name: name(&format!("s-{index}-x")),
        service: format!("s-{index}").into(),
        ports: vec![EndpointPort { name: Some("http".into()), port: 8080 }],
        endpoints: endpoints.to_vec(),
    })
}

fn plain(index: usize) -> Object {
    ingress(&format!("i-{index}"), index)
}

/// Five keys that tenants use most, with values of their own.
fn every_other_with_keys(index: usize) -> Object {
    let mut object = plain(index);
    if let Object::Ingress(ingress) = &mut object
        && index % 2 == 1
    {
        let keys = [
            ("path-rewrite", "/app".to_owned()),
            ("request-set-header", format!("X-Tenant t-{index}")),
            ("timeout-server", "30s".to_owned()),
            ("allow-list", "10.0.0.0/8,192.0.2.7".to_owned()),
            ("rate-limit-requests", "100".to_owned()),
        ];
        let annotations = keys.map(|(key, value)| (format!("haproxy.org/{key}").into(), value.into()));
        ingress.annotations = annotations.into_iter().collect();
    }
    object
}

/// An Ingress with one host and one path to a Service.
fn ingress(own: &str, service: usize) -> Object {
    let backend = IngressBackend::Service {
        name: format!("s-{service}").into(),
        port: Some(PortRef::Name("http".into())),
    };
    let path = IngressPath { path: Some("/".into()), path_type: PathType::Prefix, backend };
    Object::Ingress(Ingress {
        name: name(own),
        created: 0,
        class: Some("outrigger".into()),
        annotations: [].into(),
        default_backend: None,
        rules: vec![IngressRule { host: Some(format!("{own}.example.org").into()), paths: vec![path] }],
        tls: Vec::new(),
    })
}
