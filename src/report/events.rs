//! Events: what `kubectl describe` shows on the object that has a Problem. The leader writes one when a Problem appears, not
//! again while it lasts, and not faster than the API server should be asked.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use k8s_openapi::api::core::v1::ObjectReference;
use kube::api::{Api, DynamicObject};
use kube::core::{ApiResource, GroupVersionKind};
use kube::runtime::events::{Event, EventType, Recorder, Reporter};
use kube::{Client, Error};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::{Settings, Standing};
use crate::cluster::{Kind, ObjectRef};
use crate::problem::Problem;

/// Between two Events, once the first ones are out.
const PACE: Duration = Duration::from_millis(200);
/// So many may go out at once.
const BURST: u32 = 25;
/// A Problem that goes and comes again within this time is no news.
const SAME: Duration = Duration::from_mins(10);
/// Longest note of an Event (`events.k8s.io/v1`).
const LONGEST: usize = 1024;
/// Longest action of an Event.
const LONGEST_ACTION: usize = 128;

/// Writes Events while this controller leads.
pub(super) async fn run(
    client: Client,
    settings: Settings,
    mut standing: watch::Receiver<Standing>,
    mut leads: watch::Receiver<bool>,
    stop: CancellationToken,
) {
    let reporter = Reporter { controller: "outrigger".into(), instance: Some(settings.identity) };
    let recorder = Recorder::new(client.clone(), reporter);
    let mut said: BTreeMap<Problem, (u64, Instant)> = BTreeMap::new();
    let mut allowance = Allowance { left: BURST, since: Instant::now() };
    while !stop.is_cancelled() {
        let next = next(&standing.borrow_and_update(), &mut said, Instant::now());
        match next {
            Some((problem, number)) if *leads.borrow_and_update() => {
                allowance.wait().await;
                match say(&client, &recorder, &problem).await {
                    Ok(()) => {}
                    Err(error) => tracing::debug!(%error, %problem, "an Event could not be written"),
                }
                said.insert(problem, (number, Instant::now()));
            }
            _ => tokio::select! {
                () = stop.cancelled() => {}
                changed = standing.changed() => if changed.is_err() { return },
                changed = leads.changed() => if changed.is_err() { return },
            },
        }
    }
}

/// A Problem that is there and was not said.
fn next(
    standing: &Standing,
    said: &mut BTreeMap<Problem, (u64, Instant)>,
    now: Instant,
) -> Option<(Problem, u64)> {
    said.retain(|problem, (_, when)| standing.contains_key(problem) || now.duration_since(*when) < SAME);
    let is_news = |problem: &Problem| !said.contains_key(problem);
    let found = standing.iter().filter(|(problem, _)| is_news(problem)).min_by_key(|(_, number)| **number);
    found.map(|(problem, number)| (problem.clone(), *number))
}

/// How many Events may go out.
struct Allowance {
    left: u32,
    since: Instant,
}

impl Allowance {
    async fn wait(&mut self) {
        let earned = self.since.elapsed().as_millis() / PACE.as_millis();
        if earned > 0 {
            self.left = self.left.saturating_add(u32::try_from(earned).unwrap_or(BURST)).min(BURST);
            self.since = Instant::now();
        }
        if self.left == 0 {
            tokio::time::sleep(PACE).await;
        } else {
            self.left -= 1;
        }
    }
}

async fn say(client: &Client, recorder: &Recorder, problem: &Problem) -> Result<(), Error> {
    let Some(reference) = reference(client, &problem.origin.object).await? else { return Ok(()) };
    let cut = |text: String, most: usize| -> String {
        let end = (0..=most.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        text[..end].to_owned()
    };
    let event = Event {
        type_: EventType::Warning,
        reason: reason(problem.code.as_str()),
        note: Some(cut(format!("{}; hint: {}", problem.message, problem.hint), LONGEST)),
        // Two Problems of one kind on one object are two Events: the place tells them apart.
        action: cut(problem.origin.key.as_deref().unwrap_or("Translate").to_owned(), LONGEST_ACTION),
        secondary: None,
    };
    recorder.publish(&event, &reference).await
}

/// `route-conflict` → `RouteConflict`, as reasons are written.
fn reason(code: &str) -> String {
    code.split('-')
        .flat_map(|word| {
            let (first, rest) = word.split_at(word.len().min(1));
            [first.to_ascii_uppercase(), rest.to_owned()]
        })
        .collect()
}

/// The object as Events name it, with its uid, by which `kubectl describe` finds them; `None` when it is not (or no longer) an
/// object of the cluster.
async fn reference(client: &Client, object: &ObjectRef) -> Result<Option<ObjectReference>, Error> {
    let (group, kind) = match object.kind {
        Kind::Ingress | Kind::IngressClass => ("networking.k8s.io", object.kind),
        // The name is that of the Service whose endpoints they are.
        Kind::EndpointSlice => ("", Kind::Service),
        Kind::Service | Kind::Secret | Kind::ConfigMap => ("", object.kind),
        Kind::File | Kind::Flag => return Ok(None),
    };
    let resource = ApiResource::from_gvk(&GroupVersionKind::gvk(group, "v1", kind.as_str()));
    let namespace = Some(object.name.namespace.as_ref()).filter(|namespace| !namespace.is_empty());
    let api: Api<DynamicObject> = match namespace {
        Some(namespace) => Api::namespaced_with(client.clone(), namespace, &resource),
        None => Api::all_with(client.clone(), &resource),
    };
    let uid = match api.get_metadata_opt(&object.name.name).await {
        Ok(None) => return Ok(None),
        Ok(Some(found)) => found.metadata.uid,
        // Not everything that is watched may be read one by one; an Event without uid is better than none.
        Err(Error::Api(status)) if status.code == 403 => None,
        Err(error) => return Err(error),
    };
    Ok(Some(ObjectReference {
        api_version: Some(resource.api_version.clone()),
        kind: Some(kind.as_str().to_owned()),
        name: Some(object.name.name.to_string()),
        namespace: namespace.map(str::to_owned),
        uid,
        ..ObjectReference::default()
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::{ObjectName, Origin};
    use crate::problem::{Code, Severity};

    fn problem(name: &str) -> Problem {
        Problem {
            origin: Origin::object(Kind::Ingress, ObjectName::new("a", name)),
            code: Code::RouteConflict,
            severity: Severity::Error,
            message: String::new(),
            hint: String::new(),
        }
    }

    #[test]
    fn a_problem_is_said_once_while_it_lasts_and_the_first_one_first() {
        let now = Instant::now();
        let mut said = BTreeMap::new();
        let standing = Standing::from([(problem("x"), 2), (problem("y"), 1)]);
        assert_eq!(next(&standing, &mut said, now), Some((problem("y"), 1)));
        said.insert(problem("y"), (1, now));
        assert_eq!(next(&standing, &mut said, now), Some((problem("x"), 2)));
        said.insert(problem("x"), (2, now));
        assert_eq!(next(&standing, &mut said, now + SAME * 2), None, "they last");
        assert_eq!(next(&Standing::new(), &mut said, now + SAME / 2), None);
        assert_eq!(next(&standing, &mut said, now + SAME / 2), None, "gone and back at once");
        assert_eq!(next(&Standing::new(), &mut said, now + SAME * 2), None);
        assert!(next(&standing, &mut said, now + SAME * 2).is_some(), "back after a while");
    }

    #[test]
    fn reasons_are_written_as_kubernetes_writes_them() {
        assert_eq!(reason("route-conflict"), "RouteConflict");
    }
}
