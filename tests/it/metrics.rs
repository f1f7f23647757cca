//! `docs/metrics.md` against what `/metrics` prints.

use std::collections::{BTreeMap, BTreeSet};

use crate::support::client::get;
use crate::support::manifests::{application, ingress};
use crate::support::{Bed, Branch, Echo, until};

/// Name → (type, labels).
type Described = BTreeMap<String, (String, BTreeSet<String>)>;

/// What the exporter says, under the names that Prometheus stores.
fn printed(text: &str) -> Described {
    let mut described = Described::new();
    let mut name = String::new();
    for line in text.lines() {
        if let Some((base, kind)) = line.strip_prefix("# TYPE ").and_then(|line| line.split_once(' ')) {
            name = match kind {
                "counter" => format!("{base}_total"),
                "info" => format!("{base}_info"),
                _ => base.to_owned(),
            };
            described.insert(name.clone(), (kind.to_owned(), BTreeSet::new()));
        } else if let Some((_, labels)) = line.split_once('{').filter(|_| !line.starts_with('#')) {
            let labels = labels.split('}').next().unwrap().split("\",");
            let labels = labels.map(|label| label.split('=').next().unwrap().to_owned());
            described.get_mut(&name).unwrap().1.extend(labels.filter(|label| label != "le"));
        }
    }
    described
}

/// The rows of the table: name, type, labels.
fn documented(page: &str) -> Described {
    let quoted =
        |cell: &str| -> BTreeSet<String> { cell.split('`').skip(1).step_by(2).map(str::to_owned).collect() };
    let rows =
        page.lines().filter(|line| line.starts_with("| `outrigger_") || line.starts_with("| `process_"));
    rows.map(|row| {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        (quoted(cells[1]).pop_first().unwrap(), (cells[2].to_owned(), quoted(cells[3])))
    })
    .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_metric_is_described_as_it_is() {
    let bed = Bed::start(Branch(3, 2), &["--prometheus"]).await;
    let echo = Echo::start("echo").await;
    bed.put("wrong.yaml", &ingress("wrong", &[("wrong.test", "Prefix", "/", "missing")]));
    bed.put("app.yaml", &application("app", echo.address));
    bed.until_name("app.test", "/", "echo").await;
    let text = until("a Problem to be counted", || async {
        let text = get(bed.address(bed.ports.controller), "x", "/metrics").await?.body;
        if text.contains("outrigger_problems{") { Ok(text) } else { Err(text) }
    })
    .await;
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/metrics.md")).unwrap();
    let described = documented(&page);
    assert_eq!(printed(&text), described, "left: /metrics, right: docs/metrics.md\n{text}");
    // Also in the alerts.
    let words = page.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    for word in words.filter(|word| word.starts_with("outrigger_") || word.starts_with("process_")) {
        let base =
            ["_bucket", "_sum", "_count"].iter().find_map(|end| word.strip_suffix(end)).unwrap_or(word);
        assert!(described.contains_key(base), "docs/metrics.md names `{word}`, which does not exist");
    }
    bed.check_after_test().await;
}
