//! The examples of users: each README in `examples/` is run as it stands, and what it promises must come back.

mod pods;
mod readme;
mod values;
mod walk;

use crate::support::{Branch, Scripted};
use readme::{Step, folder, read, steps};
use walk::Walk;

/// Tests of examples: name of the test, folder, codes of problems that belong to it, and what else must hold at the end. On the
/// oldest branch, the one that the chart brings, and the newest; keys are tested on all five elsewhere.
macro_rules! examples {
    ($($name:ident $folder:literal $problems:tt $check:expr;)*) => {
        /// The folders whose README is run.
        const WALKED: &[&str] = &[$($folder),*];
        $(mod $name {
            use super::*;
            examples!(@ haproxy_2_2 Branch(2, 2), $folder, &$problems, $check);
            examples!(@ haproxy_3_2 Branch(3, 2), $folder, &$problems, $check);
            examples!(@ haproxy_3_4 Branch(3, 4), $folder, &$problems, $check);
        })*
    };
    (@ $branch:ident $number:expr, $folder:literal, $problems:expr, $check:expr) => {
        #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn $branch() {
            let mut walk = Walk::through($number, $folder).await;
            $check(&mut walk).await;
            walk.expect_problems($problems);
            walk.bed.check_after_test().await;
        }
    };
}

examples! {
    quickstart "quickstart" [] a_first_application_needs_no_reload;
    configmap "configmap" ["secret-not-found"] nothing_more;
    tls "tls" [] nothing_more;
    mutual_tls "mutual-tls" [] nothing_more;
    basic_auth "basic-auth" [] nothing_more;
    canary_weight "canary-weight" [] a_fifth_goes_to_the_canary;
    canary_route_acl "canary-route-acl" [] nothing_more;
    rate_limit "rate-limit" [] nothing_more;
    cors "cors" [] nothing_more;
    snippets "snippets" [] nothing_more;
    error_pages "error-pages" [] nothing_more;
    pattern_files "pattern-files" [] files_change_without_a_reload;
    tcp_services "tcp-services" [] nothing_more;
    gke_autopilot "gke-autopilot" [] nothing_more;
}

/// Folders whose tests are elsewhere: below, in `values.rs`, and in `cluster/external_mode.rs`.
const ELSEWHERE: &[&str] = &["laptop", "values", "external-mode"];

async fn nothing_more(_: &mut Walk) {}

async fn a_first_application_needs_no_reload(walk: &mut Walk) {
    // Servers come and go with commands from 2.6 on.
    if walk.bed.branch.has_dynamic_servers() {
        assert_eq!(walk.bed.worker().await, walk.first_worker, "{}", walk.bed.log_tail());
    }
}

async fn a_fifth_goes_to_the_canary(walk: &mut Walk) {
    let mut canary = 0;
    for _ in 0..500 {
        canary += u32::from(walk.bed.get("canary.foo.bar", "/").await.name().starts_with("canary-"));
    }
    // 100, give or take five standard deviations (√(500 × 0.2 × 0.8) ≈ 9).
    assert!((55..=145).contains(&canary), "{canary} of 500");
}

async fn files_change_without_a_reload(walk: &mut Walk) {
    let worker = walk.bed.worker().await;
    walk.apply("examples/pattern-files").await;
    walk.bed.until_status("office.foo.bar", "/", 403).await;
    assert_eq!(walk.bed.worker().await, worker, "no reload was needed\n{}", walk.bed.log_tail());
}

on_every_branch!(laptop, |bed| async move {
    let pod = Scripted::start().await;
    pod.answers(200, &[], "pod");
    let own = folder().join("laptop/endpoints.yaml");
    for file in [folder().join("quickstart/service.yaml"), folder().join("quickstart/ingress.yaml"), own] {
        let text = read(&file).replace("18081", &pod.address.port().to_string());
        bed.put(file.file_name().unwrap().to_str().unwrap(), &text);
    }
    let [step]: [Step; 1] = steps("laptop").try_into().unwrap();
    assert_eq!(step.prints, ["pod"]);
    bed.until_name("foo.bar", "/", "pod").await;
});

#[test]
fn every_folder_is_tested_and_in_the_tables() {
    let page = read(&folder().join("README.md"));
    for entry in std::fs::read_dir(folder()).unwrap().map(Result::unwrap) {
        let name = entry.file_name().into_string().unwrap();
        if !entry.path().is_dir() {
            continue;
        }
        assert!(WALKED.contains(&name.as_str()) || ELSEWHERE.contains(&name.as_str()), "nobody tests {name}");
        assert!(name == "values" || page.contains(&format!("[{name}]({name}/README.md)")), "{name}");
    }
}
