//! What two existing controllers were measured at, in the same way on 2 cores, and the table beside it.

use std::fmt::Write as _;

use super::measure::Results;

/// A row: the measure, then haproxytech/kubernetes-ingress 3.2.11 (A) and jcmoraisjr/haproxy-ingress 0.16.1 (B) at 1,000
/// Ingresses, then both at 5,000. The first number of a cell is what ratios are made of.
type Row = (&'static str, [&'static str; 4], fn(&Results) -> String);

const ROWS: [Row; 12] = [
    ("start → all hosts answer 200, s", ["5.7", "0.5", "8.3", "2.8"], |r| {
        format!("{:.2}", r.start_seconds)
    }),
    (
        "new Service + Ingress → 200, p50 / max, ms",
        ["5519 / 5601", "1786 / 1822", "8591 / 8745", "1968 / 4328"],
        |r| quantiles(&r.new_service, 1.0),
    ),
    (
        "new host on an existing Service → 200, p50 / max, ms",
        ["5368 / 5435", "1800 / 1862", "8011 / 8402", "2125 / 2866"],
        |r| quantiles(&r.new_host, 1.0),
    ),
    (
        "endpoints replaced → only new ones answer, p50 / p99, ms",
        ["14 / 616", "1485 / 1541", "13 / 5712", "1456 / 2235"],
        |r| quantiles(&r.replaced, 0.99),
    ),
    (
        "endpoint added → it serves, p50 / p99, ms",
        ["19 / 358", "1496 / 1526", "20 / 3805", "3274 / 3617"],
        |r| quantiles(&r.added, 0.99),
    ),
    ("of these the API server's own answer, p50: new host / endpoints", ["–"; 4], |r| {
        let [host, endpoints] = [&r.api[0], &r.api[1]].map(|times| quantile(times, 0.5));
        format!("{host:.1} / {endpoints:.1}")
    }),
    (
        "reloads: 10 new Services / new hosts (A, B: 10, here: 20) / endpoint changes (A, B: 40, here: 80)",
        ["10 / 0 / 0", "11 / 10 / 0–19", "10 / 0 / 0", "11 / 10 / 19"],
        |r| format!("{} / {} / {}", r.reloads[0], r.reloads[1], r.reloads[2]),
    ),
    ("failed of 6,000 requests in 20 s during 86 changes", ["0"; 4], |r| {
        format!("{} (of {}, {} reloads)", r.failures.len(), r.requests, r.reloads[3])
    }),
    ("controller memory after the run (peak), MiB", ["207", "97", "819", "218"], |r| {
        format!("{:.0} ({:.0})", r.memory.0, r.memory.1)
    }),
    ("controller CPU for the whole run, s", ["24", "21", "117", "113"], |r| format!("{:.1}", r.cpu_seconds)),
    ("controller CPU for one endpoint change, ms", ["–"; 4], |r| format!("{:.2}", r.cpu_of_change[0])),
    ("controller CPU for one new host, ms", ["–"; 4], |r| format!("{:.2}", r.cpu_of_change[1])),
];

/// The CPU for one endpoint change with the most Ingresses may be this many times that with the fewest.
const ALLOWED: f64 = 2.0;

/// The table in Markdown. `A/` and `B/` say how many times as much A and B took at the same size.
pub(crate) fn table(results: &[Results]) -> String {
    let mut text = String::new();
    let cores = std::thread::available_parallelism().map_or(0, std::num::NonZero::get);
    if let Some(first) = results.first() {
        let _ = writeln!(text, "{cores} cores, HAProxy {}\n", first.haproxy);
    }
    text.push_str("| measure | A 1000 | B 1000 | A 5000 | B 5000 |");
    for result in results {
        let _ = write!(text, " **{}** |", result.size);
        if baseline_of(result.size).is_some() {
            text.push_str(" A/ B/ |");
        }
    }
    text.push_str("\n|---|---|---|---|---|");
    for result in results {
        text.push_str(if baseline_of(result.size).is_some() { "---|---|" } else { "---|" });
    }
    for (measure, baseline, cell) in ROWS {
        let _ = write!(text, "\n| {measure} | {} |", baseline.join(" | "));
        for result in results {
            let ours = cell(result);
            let _ = write!(text, " **{ours}** |");
            if let Some(first) = baseline_of(result.size) {
                let _ = write!(
                    text,
                    " {} {} |",
                    ratio(baseline[first], &ours),
                    ratio(baseline[first + 1], &ours)
                );
            }
        }
    }
    text.push('\n');
    if let [first, .., last] = results {
        let ratio = last.cpu_of_change[0] / first.cpu_of_change[0];
        let verdict = if ratio <= ALLOWED { "PASS" } else { "over" };
        let (few, many) = (first.size, last.size);
        let _ = writeln!(
            text,
            "\nCPU for one endpoint change, {many} / {few}: {ratio:.2} (at most {ALLOWED}): {verdict}"
        );
    }
    text
}

/// Column of the baseline for A at this size; B is the next.
fn baseline_of(size: usize) -> Option<usize> {
    match size {
        1_000 => Some(0),
        5_000 => Some(2),
        _ => None,
    }
}

/// `12×`; a dash where a ratio says nothing.
fn ratio(theirs: &str, ours: &str) -> String {
    let first = |text: &str| text.split([' ', '–']).next().and_then(|number| number.parse::<f64>().ok());
    match (first(theirs), first(ours)) {
        (Some(theirs), Some(ours)) if theirs > 0.0 && ours > 0.0 => format!("{:.1}×", theirs / ours),
        _ => "–".to_owned(),
    }
}

fn quantiles(times: &[f64], high: f64) -> String {
    format!("{:.1} / {:.1}", quantile(times, 0.5), quantile(times, high))
}

/// By nearest rank.
fn quantile(times: &[f64], quantile: f64) -> f64 {
    let mut times = times.to_vec();
    times.sort_by(f64::total_cmp);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rank among some tens")]
    let rank = (quantile * times.len() as f64).ceil() as usize;
    times.get(rank.saturating_sub(1)).copied().unwrap_or(f64::NAN)
}
