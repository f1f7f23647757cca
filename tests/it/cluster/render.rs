//! `outrigger render` says what `outrigger run` does.

use std::collections::BTreeMap;
use std::process::Command;

use super::lab::{self, BRANCH, pod};
use super::space::tls;
use crate::support::certificates::ecdsa;

#[test]
fn render_shows_the_backends_that_run_writes() {
    lab::run(async |lab| {
        let space = lab.space("render").await;
        let (one, two) = (pod("one").await, pod("two").await);
        space.app("app", &[&one, &two]).await;
        space.app("api", &[&two]).await;
        space.service("empty").await;
        let pair = ecdsa("cert", &["render.test"]);
        space.tls_secret("cert", &pair).await;
        space.ingress_with("app", "render.test", "app", tls("render.test", "cert")).await;
        space.ingress("api", "api.render.test", "api").await;
        space.ingress("empty", "empty.render.test", "empty").await;
        let bed = lab.bed(BRANCH, &[]).await;
        bed.until_name("api.render.test", "/", "two").await;

        let output = Command::new(env!("CARGO_BIN_EXE_outrigger"))
            .args(["render", "--haproxy-version=3.2", &lab.kubeconfig("admin")])
            .env_remove("RUST_LOG")
            .output()
            .unwrap();
        let (stdout, stderr) =
            (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
        assert!(output.status.success(), "{stderr}");
        let mut written = BTreeMap::new();
        for entry in std::fs::read_dir(bed.path("etc")).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|e| e == "cfg") {
                written.extend(backends(&std::fs::read_to_string(path).unwrap()));
            }
        }
        let rendered = backends(&stdout);
        for name in ["render_app_80", "render_api_80"] {
            assert!(
                rendered.get(name).is_some_and(|text| text.contains("server ")),
                "{name} in {rendered:#?}"
            );
        }
        assert_eq!(rendered, written);
        // The certificate's file is named, its content and the key are not shown.
        let key = pair.key.lines().nth(1).unwrap();
        for secret in ["PRIVATE KEY", key] {
            assert!(!stdout.contains(secret) && !stderr.contains(secret), "{secret} is shown");
            assert!(!bed.log().contains(secret), "{secret} is logged");
        }
        bed.check_after_test().await;
    });
}

/// The lines of each `backend` section, by name. Comments (digests, file headers) are left out.
fn backends(text: &str) -> BTreeMap<String, String> {
    let mut found: BTreeMap<String, String> = BTreeMap::new();
    let mut current = None;
    for line in text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty()) {
        if !line.starts_with(' ') {
            current =
                line.strip_prefix("backend ").and_then(|rest| rest.split(' ').next()).map(str::to_owned);
            if let Some(name) = &current {
                found.insert(name.clone(), String::new());
            }
        } else if let Some(lines) = current.as_ref().and_then(|name| found.get_mut(name)) {
            lines.push_str(line);
            lines.push('\n');
        }
    }
    found
}
