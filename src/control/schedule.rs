//! When a reload may happen. Live changes never ask.

use std::time::{Duration, Instant};

/// Reloads wait this long for company: objects that belong together arrive a few milliseconds apart.
const QUIET: Duration = Duration::from_millis(10);
/// A refused reload is tried again after this, then twice that, and so on.
const FIRST_RETRY: Duration = Duration::from_secs(1);
/// The longest wait between two tries.
const LAST_RETRY: Duration = Duration::from_mins(1);

/// Coalesces and limits reloads.
#[derive(Debug)]
pub(super) struct Schedule {
    interval: Duration,
    last: Option<Instant>,
    asked: Option<Instant>,
    retry: Option<(Instant, Duration)>,
    /// When suspects of a refused reload are tried.
    trial: Option<Instant>,
}

impl Schedule {
    /// At most one reload per interval.
    pub(super) fn new(interval: Duration) -> Self {
        Self { interval, last: None, asked: None, retry: None, trial: None }
    }

    /// A reload is needed; gives the moment from which it may happen.
    pub(super) fn ask(&mut self, now: Instant) -> Instant {
        let quiet = *self.asked.get_or_insert(now) + QUIET;
        let limited = self.last.map_or(now, |last| last + self.interval);
        let retry = self.retry.map_or(now, |(at, _)| at);
        quiet.max(limited).max(retry)
    }

    /// When to look again, if a reload was asked for.
    pub(super) fn due(&mut self, now: Instant) -> Option<Instant> {
        let asked = self.asked.is_some().then(|| self.ask(now));
        asked.into_iter().chain(self.trial).min()
    }

    /// Something changed: a refused configuration may be good now.
    pub(super) fn changed(&mut self) {
        self.retry = None;
    }

    /// Nothing needs a reload any more.
    pub(super) fn settled(&mut self) {
        self.asked = None;
        self.retry = None;
    }

    /// A reload was done and is proven.
    pub(super) fn succeeded(&mut self, now: Instant) {
        self.last = Some(now);
        self.settled();
    }

    /// A reload is wanted at this moment, or later.
    pub(super) fn again_at(&mut self, moment: Instant) {
        self.trial = Some(moment);
    }

    /// Whether the moment of [`Self::again_at`] has come; says so once.
    pub(super) fn take_trial(&mut self, now: Instant) -> bool {
        let due = self.trial.is_some_and(|moment| moment <= now);
        if due {
            self.trial = None;
        }
        due
    }

    /// A reload was refused, or could not be tried.
    pub(super) fn failed(&mut self, now: Instant) {
        let wait = self.retry.map_or(FIRST_RETRY, |(_, wait)| (wait * 2).min(LAST_RETRY));
        self.retry = Some((now + wait, wait));
        self.last = Some(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reloads_wait_for_company_and_keep_their_distance() {
        let start = Instant::now();
        let mut schedule = Schedule::new(Duration::from_millis(500));
        assert_eq!(schedule.due(start), None);
        assert_eq!(schedule.ask(start), start + QUIET);
        assert_eq!(schedule.ask(start + QUIET), start + QUIET, "later asking does not push it away");
        schedule.succeeded(start + QUIET);
        assert_eq!(schedule.due(start + QUIET), None);
        assert_eq!(schedule.ask(start + QUIET * 2), start + QUIET + Duration::from_millis(500));
    }

    #[test]
    fn refused_reloads_are_tried_again_ever_more_rarely_unless_something_changes() {
        let start = Instant::now();
        let mut schedule = Schedule::new(Duration::ZERO);
        schedule.ask(start);
        schedule.failed(start);
        assert_eq!(schedule.ask(start), start + FIRST_RETRY);
        schedule.failed(start + FIRST_RETRY);
        assert_eq!(schedule.ask(start), start + FIRST_RETRY * 3);
        for _ in 0..10 {
            schedule.failed(start);
        }
        assert_eq!(schedule.ask(start), start + LAST_RETRY);
        schedule.changed();
        assert!(schedule.ask(start) <= start + QUIET);
    }
}
