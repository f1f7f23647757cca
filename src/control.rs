//! The loop that reads as the whole system: watch → translate → render → plan → apply → report.

pub mod ports;
mod quarantine;
mod report;
mod schedule;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::mpsc::UnboundedSender;
use tokio_util::sync::CancellationToken;

use crate::apply::{Driver, Outcome, Timings};
use crate::cluster::{Kind, ObjectRef, Snapshot};
use crate::metrics::Metrics;
use crate::plan::{Plan, ReloadReason, Texts, Units, plan};
use crate::problem::Problem;
use crate::quarantine::Quarantine;
use crate::render::Renderer;
use crate::report::News;
use crate::translate::{self, Translator};
use crate::watch::{Event, Interest, Source};
use report::Reporter;
use schedule::Schedule;

/// Servers that still finish requests are looked at this often.
const SWEEP: Duration = Duration::from_millis(250);
/// What HAProxy runs is read back and mended this often, whatever happened or did not.
const LOOK: Duration = Duration::from_mins(1);
/// An update that is under way when the process is told to stop may take this much longer; what it leaves behind then is
/// found and mended by the next start.
const LAST_UPDATE: Duration = Duration::from_secs(5);
/// A long relist is cut into updates of this many events, so that it cannot starve the loop.
const BURST: usize = 10_000;

/// What flags say about the loop.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The shared folders.
    pub volumes: outrigger_init::Volumes,
    /// The master CLI socket.
    pub master_socket: PathBuf,
    /// Translation.
    pub translate: translate::Settings,
    /// Shortest time between two reloads.
    pub reload_interval: Duration,
    /// Who counts.
    pub metrics: Arc<Metrics>,
    /// Who tells the cluster what was found out.
    pub news: Option<UnboundedSender<News>>,
}

/// The controller's state; one task owns all of it.
struct Controller {
    source: Source,
    driver: Driver,
    renderer: Renderer,
    translator: Translator,
    snapshot: Snapshot,
    /// Objects that changed since the last translation.
    changed: BTreeSet<ObjectRef>,
    /// Kinds that have not been listed yet: nothing is planned before.
    unlisted: BTreeSet<Kind>,
    wanted: Texts,
    /// Parts that HAProxy refuses; they are not in `wanted`.
    quarantine: Quarantine,
    /// Units whose wanted text may differ from what runs.
    unsettled: Units,
    schedule: Schedule,
    /// Generation that HAProxy refused: as long as nothing else is wanted, only time makes another try worthwhile.
    refused: Option<String>,
    next_sweep: Instant,
    next_look: Instant,
    reporter: Reporter,
    metrics: Arc<Metrics>,
    /// Everything has been listed, so what is missing is really missing.
    judges: bool,
    updates: u64,
}

/// Runs until `stop`; fails only when HAProxy cannot be driven at all.
pub async fn run(settings: Settings, source: Source, stop: CancellationToken) -> anyhow::Result<()> {
    let driver = tokio::select! {
        () = stop.cancelled() => return Ok(()),
        driver = Driver::attach(settings.volumes, &settings.master_socket) => driver?,
    };
    let mut controller = Controller {
        renderer: driver.renderer(),
        driver,
        translator: Translator::new(settings.translate),
        snapshot: Snapshot::default(),
        changed: BTreeSet::new(),
        unlisted: source.kinds.clone(),
        source,
        wanted: Texts::default(),
        quarantine: Quarantine::default(),
        unsettled: Units::All,
        schedule: Schedule::new(settings.reload_interval),
        refused: None,
        next_sweep: Instant::now(),
        next_look: Instant::now() + LOOK,
        reporter: Reporter::new(settings.news, settings.metrics.clone()),
        metrics: settings.metrics,
        judges: false,
        updates: 0,
    };
    loop {
        let due = controller.due();
        tokio::select! {
            biased;
            () = stop.cancelled() => return Ok(()),
            () = controller.driver.disturbed() => tokio::select! {
                // Waits for as long as HAProxy is away.
                looked = controller.look_at_haproxy() => looked?,
                () = stop.cancelled() => return Ok(()),
            },
            event = controller.source.events.recv() => match event {
                Some(event) => controller.absorb(event),
                None => anyhow::bail!("the source of objects ended"),
            },
            () = sleep_until(due) => {}
        }
        // A burst is one update: take what is there already, and wait for nothing.
        for _ in 0..BURST {
            let Ok(event) = controller.source.events.try_recv() else { break };
            controller.absorb(event);
        }
        tokio::select! {
            result = controller.update() => result,
            () = after(&stop, LAST_UPDATE) => return Ok(()),
        }
    }
}

impl Controller {
    fn absorb(&mut self, event: Event) {
        match event {
            Event::Changes(changes) => {
                for change in changes {
                    self.snapshot.apply(change, &mut self.changed);
                }
            }
            Event::Listed(kind) => {
                tracing::debug!(%kind, "listed");
                self.unlisted.remove(&kind);
            }
            Event::Problems(origin, problems) => self.reporter.source(origin, problems, Instant::now()),
        }
    }

    /// The next moment at which something is to be done without an event.
    fn due(&mut self) -> Option<Instant> {
        let now = Instant::now();
        let sweep = self.driver.has_dying_servers().then_some(self.next_sweep);
        [self.schedule.due(now), sweep, self.reporter.due(), Some(self.next_look)].into_iter().flatten().min()
    }

    /// HAProxy restarted, or another worker serves: find out what it runs.
    async fn look_at_haproxy(&mut self) -> anyhow::Result<()> {
        let before = self.driver.version().to_owned();
        if !self.driver.look_again().await? {
            return Ok(());
        }
        if self.driver.version() != before {
            self.renderer = self.driver.renderer();
            // Another HAProxy may take what this one refused.
            self.quarantine.forget();
            self.render_all();
            self.report_quarantine();
        }
        self.unsettled = Units::All;
        self.schedule.changed();
        Ok(())
    }

    /// One update: from changed objects to a proven HAProxy.
    async fn update(&mut self) {
        let started = Instant::now();
        self.translate();
        self.reporter.say_due(started);
        // Secrets are listed only after what refers to them is known, so translation goes ahead of planning.
        if !self.unlisted.is_empty() {
            return;
        }
        self.look_after_haproxy(started).await;
        self.try_suspects(started);
        let plan = plan(self.driver.running(), &self.wanted, &self.unsettled, self.driver.capabilities());
        let mut timings = Timings { parse_ingress: started.elapsed(), ..Timings::default() };

        let reloads = !plan.reload.is_empty() || !self.driver.is_proven();
        let now = Instant::now();
        let reload_now = reloads && self.schedule.ask(now) <= now && self.ports_are_free();
        let live = self.driver.is_proven() && !plan.steps.is_empty();
        let acts = reload_now || live || self.updates == 0 && !reloads;
        if acts {
            tracing::info!("starting haproxy update id={}", self.updates);
            let outcome = self.apply(&plan, reload_now, &mut timings).await;
            self.finish(&outcome, &timings, started);
            if !self.driver.is_proven() {
                // A command did not succeed: a reload is needed that the plan did not know of.
                self.schedule.ask(Instant::now());
            }
        } else if !reloads {
            self.unsettled = Units::default();
            self.schedule.settled();
        }
        if !reloads {
            self.end_idle_trial();
        }
    }

    /// What is due without a change: deleting servers whose last request is done, reading back what HAProxy runs.
    async fn look_after_haproxy(&mut self, now: Instant) {
        if now >= self.next_sweep {
            self.driver.sweep().await;
            self.next_sweep = Instant::now() + SWEEP;
        }
        if now >= self.next_look {
            if self.driver.is_proven() {
                self.driver.look_at_everything().await;
            }
            self.next_look = Instant::now() + LOOK;
        }
    }

    /// Live steps first: they do not wait for the reload.
    async fn apply(&mut self, plan: &Plan, reload_now: bool, timings: &mut Timings) -> Outcome {
        let mut outcome = Outcome::Unchanged;
        if !plan.steps.is_empty() && self.driver.is_proven() {
            outcome = self.driver.live(plan, timings).await;
        }
        if reload_now {
            let reasons = self.driver.reload_reasons(&plan.reload);
            tracing::info!("reloading haproxy because {}", reasons.join(", "));
            outcome = self.reload(timings).await;
            let labels: BTreeSet<&str> = plan.reload.iter().map(ReloadReason::label).collect();
            let labels = if labels.is_empty() { BTreeSet::from(["not-proven"]) } else { labels };
            self.metrics.reloaded(labels, outcome == Outcome::Reloaded);
        }
        self.reporter.refused_certificates(self.driver.refused_certificates());
        let now = Instant::now();
        match &outcome {
            Outcome::Refused { cause, .. } => {
                self.reporter.refused(Some(cause));
                self.schedule.failed(now);
                self.refused = Some(self.wanted.generation());
            }
            Outcome::Reloaded => {
                tracing::info!("haproxy successfully reloaded (external)");
                self.reporter.refused(None);
                if self.driver.is_proven() {
                    self.schedule.succeeded(now);
                } else {
                    // The look at the new worker found what another reload may mend: with ever longer waits.
                    self.schedule.failed(now);
                }
                self.refused = None;
                self.unsettled = Units::default();
            }
            // Of a reload nothing was left but what HAProxy refuses.
            Outcome::Live | Outcome::Unchanged if reload_now => {
                self.reporter.refused(None);
                self.schedule.succeeded(now);
                self.refused = None;
                self.unsettled = Units::default();
            }
            Outcome::Live | Outcome::Unchanged if plan.reload.is_empty() && self.driver.is_proven() => {
                self.unsettled = Units::default();
                self.schedule.settled();
            }
            // The rest waits for its reload.
            Outcome::Live | Outcome::Unchanged => {}
        }
        outcome
    }

    fn finish(&mut self, outcome: &Outcome, timings: &Timings, started: Instant) {
        let ms = |duration: Duration| duration.as_secs_f64() * 1000.0;
        tracing::info!(
            "finish haproxy update id={} parse_ingress={:.3}ms write_maps={:.3}ms write_config={:.3}ms \
             commands={:.3}ms reload_haproxy={:.3}ms total={:.3}ms outcome={outcome}",
            self.updates,
            ms(timings.parse_ingress),
            ms(timings.write_maps),
            ms(timings.write_config),
            ms(timings.commands),
            ms(timings.reload_haproxy),
            ms(started.elapsed()),
        );
        self.metrics.updated(outcome.label(), started.elapsed());
        if self.driver.is_proven() && (self.updates == 0 || *outcome == Outcome::Reloaded) {
            self.metrics.runs(self.driver.running().generation());
        }
        if self.updates == 0 {
            tracing::info!("successfully initialized");
        }
        self.updates += 1;
    }

    /// A port that another process holds is a Problem, and no reload is tried until it is free.
    fn ports_are_free(&mut self) -> bool {
        let taken = ports::taken(&self.driver.main_on_disk(), &self.wanted.main);
        self.reporter.ports(&taken);
        if !taken.is_empty() {
            self.schedule.failed(Instant::now());
        }
        taken.is_empty()
    }

    /// Snapshot → model → texts, for what changed.
    fn translate(&mut self) {
        let waits_for_secrets = self.unlisted.len() == 1 && self.unlisted.contains(&Kind::Secret);
        if !self.unlisted.is_empty() && !waits_for_secrets {
            return;
        }
        let update = self.translator.update(&self.snapshot, &std::mem::take(&mut self.changed));
        if self.judges {
            self.reporter.translation(update.problems_added, &update.problems_gone, Instant::now());
        } else if self.unlisted.is_empty() {
            // What was missing while things were still being listed was no mistake of anybody.
            let problems: Vec<Problem> = self.translator.problems().cloned().collect();
            self.reporter.translation(problems, &[], Instant::now());
            self.judges = true;
        }
        if update.served_changed {
            self.reporter.tell(News::Served(Arc::new(self.translator.served().cloned().collect())));
        }
        // If the source is gone, the next receive says so.
        if !update.secrets_released.is_empty() {
            let _ = self.source.interest.send(Interest::Release(update.secrets_released));
        }
        if !update.secrets_added.is_empty() || waits_for_secrets {
            let _ = self.source.interest.send(Interest::Add(update.secrets_added));
        }
        if !update.touched.is_empty() {
            let running = self.driver.running();
            let units =
                self.renderer.refresh(self.translator.model(), &update.touched, running, &mut self.wanted);
            self.unsettled.extend(units);
            self.release_changed();
            if self.refused.as_ref().is_some_and(|refused| *refused != self.wanted.generation()) {
                self.refused = None;
                self.schedule.changed();
            }
        }
    }
}

/// A while after `stop`.
async fn after(stop: &CancellationToken, pause: Duration) {
    stop.cancelled().await;
    tokio::time::sleep(pause).await;
}

async fn sleep_until(moment: Option<Instant>) {
    match moment {
        Some(moment) => tokio::time::sleep_until(moment.into()).await,
        None => std::future::pending().await,
    }
}
