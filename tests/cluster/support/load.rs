//! Constant load from the network of the node. Every request that fails is kept, with its time and reason.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tokio::task::LocalSet;
use tokio::time::{MissedTickBehavior, interval, timeout};

use super::http::{self, PATIENCE, Sender};
use super::{DEADLINE, Node, inside, until};

/// What to ask for, and how often.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    /// A node port, the address of a Service, or of a load balancer.
    pub(crate) target: SocketAddr,
    pub(crate) host: String,
    pub(crate) path: String,
    /// Requests a second, whatever the answers: half of them on new connections, half on kept ones.
    pub(crate) per_second: u32,
}

/// Running load.
pub(crate) struct Load {
    stop: Arc<AtomicBool>,
    answered: Arc<AtomicU64>,
    thread: JoinHandle<Report>,
}

/// A request that was not answered with 200.
#[derive(Debug, Clone)]
pub(crate) struct Failure {
    /// When it was sent, from the start of the load on.
    pub(crate) sent: Duration,
    /// How long it took to fail.
    pub(crate) took: Duration,
    /// Whether the connection was a kept one that had answered before.
    pub(crate) kept: bool,
    pub(crate) reason: String,
}

/// What came of it.
#[derive(Debug, Default)]
pub(crate) struct Report {
    pub(crate) answered: u64,
    pub(crate) slowest: Duration,
    /// Answers by the first line of their body: the pod.
    pub(crate) by_pod: BTreeMap<String, u64>,
    pub(crate) failures: Vec<Failure>,
}

impl Load {
    /// Starts, and waits for the first answers.
    pub(crate) fn start(node: &Node, plan: Plan) -> Self {
        let (stop, answered) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let (stop_inside, answered_inside) = (stop.clone(), answered.clone());
        let thread = inside::start(node, move || {
            inside::block_on(LocalSet::new().run_until(drive(plan, stop_inside, answered_inside)))
        });
        let load = Self { stop, answered, thread };
        load.more(10);
        load
    }

    /// Requests answered with 200 so far.
    pub(crate) fn answered(&self) -> u64 {
        self.answered.load(Ordering::SeqCst)
    }

    /// Waits until that many more requests were answered.
    pub(crate) fn more(&self, requests: u64) {
        let target = self.answered() + requests;
        until("the load to go on", DEADLINE, || {
            let answered = self.answered();
            if answered >= target { Ok(()) } else { Err(format!("{answered} of {target} answers")) }
        });
    }

    /// Sends no more, and waits for what is under way.
    pub(crate) fn stop(self) -> Report {
        self.stop.store(true, Ordering::SeqCst);
        self.thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

impl Report {
    /// Panics when any request failed, and shows them.
    pub(crate) fn assert_clean(&self, what: &str) {
        assert!(self.failures.is_empty(), "{what}: {self}");
        eprintln!("{what}: {self}");
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} answered, {} failed, slowest {:?}", self.answered, self.failures.len(), self.slowest)?;
        for Failure { sent, took, kept, reason } in self.failures.iter().take(20) {
            let connection = if *kept { "kept" } else { "new" };
            write!(f, "\n  {:8.3} s, {connection} connection, after {took:?}: {reason}", sent.as_secs_f64())?;
        }
        Ok(())
    }
}

async fn drive(plan: Plan, stop: Arc<AtomicBool>, answered: Arc<AtomicU64>) -> Report {
    let start = Instant::now();
    let report = Rc::new(RefCell::new(Report::default()));
    let idle: Rc<RefCell<Vec<Sender>>> = Rc::default();
    let plan = Rc::new(plan);
    let mut ticks = interval(Duration::from_secs(1) / plan.per_second.max(1));
    // A machine that stood still is no reason for a burst.
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut requests = tokio::task::JoinSet::new();
    let mut keep = false;
    while !stop.load(Ordering::SeqCst) {
        ticks.tick().await;
        keep = !keep;
        let (plan, idle, report, answered) = (plan.clone(), idle.clone(), report.clone(), answered.clone());
        requests.spawn_local(async move {
            let sent = start.elapsed();
            let mut kept = false;
            let asked = timeout(PATIENCE, ask(&plan, keep, &idle, &mut kept)).await;
            let asked = asked.unwrap_or_else(|_| Err(format!("no answer in {PATIENCE:?}")));
            let (took, mut report) = (start.elapsed().saturating_sub(sent), report.borrow_mut());
            match asked {
                Ok(answer) if answer.status == 200 => {
                    report.answered += 1;
                    report.slowest = report.slowest.max(took);
                    *report.by_pod.entry(answer.pod().to_owned()).or_default() += 1;
                    answered.fetch_add(1, Ordering::SeqCst);
                }
                Ok(answer) => {
                    let reason = format!("status {}: {}", answer.status, answer.body.trim());
                    report.failures.push(Failure { sent, took, kept, reason });
                }
                Err(reason) => report.failures.push(Failure { sent, took, kept, reason }),
            }
        });
        while requests.try_join_next().is_some() {}
    }
    while requests.join_next().await.is_some() {}
    report.take()
}

/// A kept connection is left when the server said so before the request was sent; what breaks afterwards is a failure.
async fn ask(
    plan: &Plan,
    keep: bool,
    idle: &RefCell<Vec<Sender>>,
    kept: &mut bool,
) -> Result<http::Answer, String> {
    if !keep {
        return http::fetch(plan.target, &plan.host, &plan.path).await;
    }
    let mut sender = loop {
        let Some(mut sender) = idle.borrow_mut().pop() else { break http::connect(plan.target).await? };
        if sender.ready().await.is_ok() {
            *kept = true;
            break sender;
        }
    };
    let answer = http::send(&mut sender, &plan.host, &plan.path, false).await?;
    idle.borrow_mut().push(sender);
    Ok(answer)
}
