use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use tempfile::TempDir;

use super::*;
use crate::cluster::{ObjectName, Origin, Snapshot};
use crate::problem::Code;

const SERVICE: &str = "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {ports: [{port: 80}]}\n";

fn ingress(name: &str, host: &str) -> String {
    format!(
        "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {{name: {name}, namespace: shop}}\nspec:\n  rules:\n  - host: {host}\n"
    )
}

/// Follows a source of manifests.
struct Seen {
    source: Source,
    snapshot: Snapshot,
    listed: Vec<Kind>,
    problems: BTreeMap<Origin, Vec<Problem>>,
    changes: usize,
}

impl Seen {
    fn of(paths: Vec<PathBuf>) -> Self {
        let source = manifests(paths, ManifestOptions { interval: Duration::from_millis(5) });
        Self {
            source,
            snapshot: Snapshot::default(),
            listed: Vec::new(),
            problems: BTreeMap::new(),
            changes: 0,
        }
    }

    async fn until(&mut self, what: &str, holds: impl Fn(&Self) -> bool) {
        let end = Instant::now() + Duration::from_secs(20);
        while !holds(self) {
            assert!(Instant::now() < end, "waited in vain until {what}");
            match tokio::time::timeout(Duration::from_millis(100), self.source.events.recv()).await {
                Err(_) => {}
                Ok(None) => panic!("the source ended"),
                Ok(Some(Event::Changes(changes))) => {
                    self.changes += changes.len();
                    for change in changes {
                        self.snapshot.apply(change, &mut BTreeSet::new());
                    }
                }
                Ok(Some(Event::Listed(kind))) => self.listed.push(kind),
                Ok(Some(Event::Problems(origin, problems))) if problems.is_empty() => {
                    self.problems.remove(&origin);
                }
                Ok(Some(Event::Problems(origin, problems))) => {
                    self.problems.insert(origin, problems);
                }
            }
        }
    }

    async fn until_listed(&mut self) {
        self.until("all kinds are listed", |seen| seen.listed == KINDS).await;
    }

    fn host(&self, name: &str) -> Option<&str> {
        let ingress = self.snapshot.ingresses.get(&ObjectName::new("shop", name))?;
        ingress.rules.first()?.host.as_deref()
    }

    fn problem(&self, path: &Path) -> Option<&Problem> {
        let name = ObjectName::cluster(path.to_string_lossy().as_ref());
        self.problems.get(&Origin::object(Kind::File, name))?.first()
    }
}

fn folder() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_owned();
    (folder, path)
}

#[tokio::test]
async fn files_come_change_and_go() {
    let (_folder, path) = folder();
    fs::create_dir(path.join("deeper")).unwrap();
    fs::write(path.join("a.yaml"), ingress("web", "one.example")).unwrap();
    fs::write(path.join("deeper/b.yml"), SERVICE).unwrap();
    fs::write(path.join("notes.txt"), "not: a manifest: at all").unwrap();
    fs::write(path.join(".a.yaml.swp.yaml"), "not: a manifest: at all").unwrap();
    let mut seen = Seen::of(vec![path.clone()]);
    seen.until_listed().await;
    assert_eq!(seen.host("web"), Some("one.example"));
    assert!(seen.snapshot.services.contains_key(&ObjectName::new("default", "web")));
    assert!(seen.problems.is_empty(), "{:?}", seen.problems);
    let before = seen.changes;

    fs::write(path.join("a.yaml"), ingress("web", "two.example")).unwrap();
    seen.until("the edit arrives", |seen| seen.host("web") == Some("two.example")).await;
    assert_eq!(seen.changes, before + 1, "only what changed is said");
    fs::write(
        path.join("c.json"),
        r#"{"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "data": {"k": "dg=="}}"#,
    )
    .unwrap();
    let secret = ObjectName::new("default", "s");
    seen.until("a new file arrives", |seen| seen.snapshot.secrets.contains_key(&secret)).await;
    assert_eq!(&seen.snapshot.secrets.get(&secret).unwrap().data["k"][..], b"v");
    fs::remove_file(path.join("a.yaml")).unwrap();
    seen.until("a removed file goes", |seen| seen.host("web").is_none()).await;
    assert_eq!(seen.snapshot.services.size(), 1);
}

#[tokio::test]
async fn a_broken_file_keeps_its_last_good_objects() {
    let (_folder, path) = folder();
    let file = path.join("a.yaml");
    fs::write(&file, format!("{}---\n{}", ingress("web", "one.example"), ingress("other", "other.example")))
        .unwrap();
    let mut seen = Seen::of(vec![path.clone()]);
    seen.until_listed().await;

    fs::write(&file, format!("{}---\n{}    - oops: [\n", ingress("web", "two.example"), SERVICE)).unwrap();
    seen.until("the mistake is a problem", |seen| seen.problem(&file).is_some()).await;
    let problem = seen.problem(&file).unwrap();
    assert_eq!(problem.code, Code::ManifestInvalid);
    assert!(problem.message.starts_with("12:"), "{problem}");
    assert_eq!((seen.host("web"), seen.host("other")), (Some("one.example"), Some("other.example")));

    fs::write(&file, ingress("web", "three.example")).unwrap();
    seen.until("the problem is mended", |seen| {
        seen.problems.is_empty() && seen.host("web") == Some("three.example")
    })
    .await;
    assert_eq!(seen.host("other"), None);
}

#[tokio::test]
async fn a_path_that_is_missing_is_picked_up_when_it_appears() {
    let (_folder, path) = folder();
    let missing = path.join("later");
    let mut seen = Seen::of(vec![missing.clone()]);
    seen.until_listed().await;
    seen.until("it is a problem", |seen| seen.problem(&missing).is_some()).await;
    assert!(seen.problem(&missing).unwrap().message.contains("does not exist"));
    fs::create_dir(&missing).unwrap();
    seen.until("the problem is mended", |seen| seen.problems.is_empty()).await;
    fs::write(missing.join("a.yaml"), ingress("web", "one.example")).unwrap();
    seen.until("its objects arrive", |seen| seen.host("web").is_some()).await;
}

#[tokio::test]
async fn of_two_files_with_the_same_object_the_later_counts() {
    let (_folder, path) = folder();
    let (early, late) = (path.join("a.yaml"), path.join("b.yaml"));
    fs::write(&late, ingress("web", "late.example")).unwrap();
    fs::write(&early, ingress("web", "early.example")).unwrap();
    let mut seen = Seen::of(vec![path.clone()]);
    seen.until_listed().await;
    seen.until("the loser has a problem", |seen| seen.problem(&early).is_some()).await;
    assert_eq!(seen.host("web"), Some("late.example"));
    let problem = seen.problem(&early).unwrap();
    assert_eq!(problem.code, Code::ManifestConflict);
    assert!(problem.message.contains("`Ingress shop/web` is also in"), "{problem}");
    fs::remove_file(&late).unwrap();
    seen.until("the other one counts", |seen| seen.host("web") == Some("early.example")).await;
    seen.until("the problem is mended", |seen| seen.problems.is_empty()).await;
}

#[tokio::test]
async fn a_file_is_never_seen_half_written() {
    let (_folder, path) = folder();
    let file = path.join("a.yaml");
    fs::write(&file, ingress("web", "host-0.example")).unwrap();
    let mut seen = Seen::of(vec![path.clone()]);
    seen.until_listed().await;
    for round in 1..20 {
        // As an editor does: empty it, then write; or take it away, then put it back.
        let cleared = if round % 2 == 0 { fs::write(&file, "") } else { fs::remove_file(&file) };
        cleared.unwrap();
        tokio::task::yield_now().await;
        fs::write(&file, ingress("web", &format!("host-{round}.example"))).unwrap();
        let expected = format!("host-{round}.example");
        let before = seen.changes;
        seen.until("the edit arrives", |seen| seen.host("web") == Some(&expected)).await;
        assert_eq!(seen.changes, before + 1, "round {round}");
    }
}

#[test]
fn reading_once_gives_objects_and_problems() {
    let (_folder, path) = folder();
    fs::write(path.join("a.yaml"), ingress("web", "one.example")).unwrap();
    fs::write(path.join("b.yaml"), "kind: [").unwrap();
    let missing = path.join("missing");
    let (objects, problems) = read_once(vec![path, missing]);
    assert_eq!(objects.len(), 1);
    assert_eq!(problems.len(), 2, "{problems:?}");
}
