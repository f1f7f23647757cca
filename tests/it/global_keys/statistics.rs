//! The statistics port: who may see it, and how much the exporter shows.

use tokio::net::TcpStream;

use super::{secret, settings};
use crate::support::client::{Answer, exchange, get};
use crate::support::manifests::application;
use crate::support::{Bed, Branch, Echo, until};

/// `user:password` in base64, made by the program that everybody has.
fn basic(user: &str) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for group in user.as_bytes().chunks(3) {
        let byte = |i: usize| u32::from(group.get(i).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for i in 0..4 {
            let sextet = (bits >> (18 - 6 * i) & 63) as usize;
            text.push(if i <= group.len() { char::from(ALPHABET[sextet]) } else { '=' });
        }
    }
    text
}

async fn as_user(bed: &Bed, path: &str, user: &str) -> Result<Answer, String> {
    bed.until_alone().await;
    let stream = TcpStream::connect(bed.address(bed.ports.stats)).await.map_err(|e| e.to_string())?;
    let user = basic(user);
    let request =
        format!("GET {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Basic {user}\r\nConnection: close\r\n\r\n");
    exchange(stream, &request).await
}

async fn until_status(bed: &Bed, path: &str, user: &str, status: u16) {
    until(&format!("{status} for {user} on {path}"), || async {
        match as_user(bed, path, user).await? {
            answer if answer.status == status => Ok(()),
            answer => Err(format!("{} {:.200}", answer.status, answer.body)),
        }
    })
    .await;
}

on_every_branch!(
    statistics_ask_for_a_password,
    ["--configmap=default/settings", "--reload-interval=10ms"],
    |bed| async move {
        // The hash is of `b$ecret`, made by `openssl passwd -5 -salt abcdefgh`.
        let output = std::process::Command::new("openssl")
            .args(["passwd", "-5", "-salt", "abcdefgh", "b$ecret"])
            .output()
            .unwrap();
        let hash = String::from_utf8(output.stdout).unwrap();
        bed.put("users.yaml", &secret("users", &[("alice", "clear pass:word\n"), ("bob", hash.trim())]));
        bed.put("metrics.yaml", &secret("metrics", &[("scraper", "tooth"), ("old", "$2y$10$abcdefghijk")]));
        bed.put("settings.yaml", &settings(&[("stats-auth", "users")]));
        until_status(&bed, "/", "alice:wrong", 401).await;
        for path in ["/", "/metrics"] {
            until_status(&bed, path, "alice:clear pass:word", 200).await;
            until_status(&bed, path, "bob:b$ecret", 200).await;
            for wrong in ["alice:b$ecret", "bob:", "mallory:clear pass:word", "bob:b$ecret2"] {
                until_status(&bed, path, wrong, 401).await;
            }
            let answer = get(bed.address(bed.ports.stats), "x", path).await.unwrap();
            assert_eq!(answer.status, 401, "without a password");
        }
        // HAProxy's health is nobody's secret.
        assert_eq!(get(bed.address(bed.ports.healthz), "x", "/healthz").await.unwrap().status, 200);

        bed.put(
            "settings.yaml",
            &settings(&[("stats-auth", "default/users"), ("prometheus-endpoint-auth-secret", "metrics")]),
        );
        until_status(&bed, "/metrics", "scraper:tooth", 200).await;
        until_status(&bed, "/metrics", "alice:clear pass:word", 401).await;
        until_status(&bed, "/", "scraper:tooth", 401).await;
        until_status(&bed, "/", "alice:clear pass:word", 200).await;
        bed.until_logged(&["user-invalid", "default/metrics, old", "kind of hash"]).await;

        // Another password, by the Secret alone.
        bed.put("users.yaml", &secret("users", &[("alice", "new")]));
        until_status(&bed, "/", "alice:new", 200).await;
        until_status(&bed, "/", "alice:clear pass:word", 401).await;
        // Without the Secret nobody is let in.
        bed.remove("users.yaml");
        until_status(&bed, "/", "alice:new", 403).await;
        bed.until_logged(&["secret-not-found", "default/users", "nobody is let in"]).await;
        let log = bed.log();
        for hidden in ["clear pass", "b$ecret", "tooth", "$2y$10", hash.trim()] {
            assert!(!log.contains(hidden), "{hidden} was printed");
        }
        for file in std::fs::read_dir(bed.path("etc")).unwrap() {
            let path = file.unwrap().path();
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            for hidden in ["clear pass", "b$ecret", "tooth"] {
                assert!(!text.contains(hidden), "{hidden} is in {}", path.display());
            }
        }
        bed.proves(&["stats-auth", "prometheus-endpoint-auth-secret"]);
    }
);

on_every_branch!(
    the_exporter_shows_what_is_asked_for,
    ["--configmap=default/settings", "--reload-interval=10ms"],
    |bed| async move {
        let echo = Echo::start("echo").await;
        bed.put("app.yaml", &application("app", echo.address));
        bed.until_name("app.test", "/", "echo").await;
        let metrics = async |query: &str| {
            get(bed.address(bed.ports.stats), "x", &format!("/metrics{query}"))
                .await
                .map(|answer| answer.body)
        };
        let expect = async |scope: &str, query: &str, there: &[&str], missing: &[&str]| {
            let pairs: &[(&str, &str)] = if scope.is_empty() { &[] } else { &[("exporter-scope", scope)] };
            bed.put("settings.yaml", &settings(pairs));
            until(&format!("the metrics of {scope}{query}"), || async {
                let text = metrics(query).await?;
                let is_there = |name: &&&str| text.contains(&format!("\nhaproxy_{name}"));
                match (there.iter().find(|name| !is_there(name)), missing.iter().find(is_there)) {
                    (None, None) => Ok(()),
                    other => Err(format!("{other:?} of {} bytes", text.len())),
                }
            })
            .await;
        };
        let (process, frontend, backend) =
            ("process_nbthread ", "frontend_status{", "backend_http_responses_total{");
        let (rare, server) = ("backend_max_sessions{", "server_status{");
        let chooses = bed.branch >= Branch(3, 0);
        let small: &[&str] = if chooses { &[rare, server] } else { &[server] };
        expect("", "", &[process, frontend, backend], small).await;
        expect("frontends", "", &[process, frontend], &[backend, server]).await;
        expect("backends", "", &[process, frontend, backend, rare], &[server]).await;
        expect("servers", "", &[process, frontend, backend, rare, server], &[]).await;
        expect("all", "", &[process, frontend, backend, rare, server], &[]).await;
        // What the scraper says wins.
        expect("frontends", "?scope=server", &[server], &[frontend, backend]).await;
        expect("", "?scope=backend", &[backend, rare], &[frontend, server]).await;
        // The page does not care.
        let page = get(bed.address(bed.ports.stats), "x", "/").await.unwrap();
        assert!(page.body.contains("Statistics Report"));
        bed.proves(&["exporter-scope"]);
    }
);
