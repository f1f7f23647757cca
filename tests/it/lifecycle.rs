//! Restarts of HAProxy, of the controller, of both; and nothing happening when nothing changed.

use crate::support::certificates::ecdsa;
use crate::support::client::get;
use crate::support::manifests::{
    application as simple, endpoints, ingress, ingress_with, service, tls_secret, too_many_applications,
};
use crate::support::{Bed, Branch, Echo, until};

/// Two hosts, one with a certificate, three endpoints.
async fn application(bed: &Bed) -> Vec<Echo> {
    let mut echoes = Vec::new();
    for i in 0..3 {
        echoes.push(Echo::start(&format!("echo{i}")).await);
    }
    let pair = ecdsa("foo", &["foo.bar"]);
    bed.put("secret.yaml", &tls_secret("foo", &pair.certificate, &pair.key));
    bed.put("service.yaml", &service("app"));
    bed.put("endpoints.yaml", &endpoints("app", &[echoes[0].address]));
    let spec = "  tls:\n  - hosts: [foo.bar]\n    secretName: foo\n";
    bed.put(
        "tls.yaml",
        &ingress_with("tls", "2024-01-01T00:00:00Z", "", &[("foo.bar", "Prefix", "/", "app")], spec),
    );
    bed.put("plain.yaml", &ingress("plain", &[("plain.test", "Prefix", "/", "app")]));
    bed.until_name("plain.test", "/", "echo0").await;
    bed.until_certificate("foo.bar", "foo").await;
    echoes
}

/// What must be true of [`application`] after any restart.
async fn answers(bed: &Bed, name: &str) {
    bed.until_name("plain.test", "/", name).await;
    bed.until_certificate("foo.bar", "foo").await;
    assert_eq!(bed.until_status("foo.bar", "/", 302).await.header("location"), Some("https://foo.bar/"));
    assert_eq!(bed.get_tls("foo.bar", "/").await.0.name(), name);
    assert_eq!(bed.get("nobody.test", "/").await.status, 404);
}

on_every_branch!(a_killed_haproxy_comes_back_with_the_same_answers, |bed| async move {
    let echoes = application(&bed).await;
    // Live changes first: they must be on disk, too.
    bed.put("endpoints.yaml", &endpoints("app", &[echoes[1].address]));
    bed.put("live.yaml", &ingress("live", &[("live.test", "Prefix", "/", "app")]));
    bed.until_name("live.test", "/", "echo1").await;
    let (master, worker, _) = bed.processes().await;
    bed.kill(master);
    bed.kill(worker);
    until("another HAProxy", || async {
        let (now, ..) = bed.processes().await;
        if now == master { Err("the old one".to_owned()) } else { Ok(()) }
    })
    .await;
    answers(&bed, "echo1").await;
    bed.until_name("live.test", "/", "echo1").await;
    // And it is driven again.
    bed.put("endpoints.yaml", &endpoints("app", &[echoes[2].address]));
    bed.until_name("plain.test", "/", "echo2").await;
});

on_every_branch!(haproxy_alone_starts_on_what_is_on_disk, |bed| async move {
    let echoes = application(&bed).await;
    for (round, echo) in [1, 2, 0, 1].into_iter().enumerate() {
        bed.put("endpoints.yaml", &endpoints("app", &[echoes[echo].address]));
        bed.put("live.yaml", &ingress("live", &[(&format!("live{round}.test"), "Prefix", "/", "app")]));
        // Somewhere in the middle of an update, controller and HAProxy are killed.
        if round == 3 {
            break;
        }
        bed.until_name(&format!("live{round}.test"), "/", &format!("echo{echo}")).await;
    }
    let (master, worker, _) = bed.processes().await;
    bed.kill_controller();
    bed.kill(master);
    bed.kill(worker);
    // No controller: HAProxy starts on the same folders.
    let mut haproxy = std::process::Command::new(bed.branch.program())
        .args([
            "-W",
            "-db",
            "-S",
            bed.path("run/master.sock").to_str().unwrap(),
            "-f",
            bed.path("etc").to_str().unwrap(),
        ])
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    until("HAProxy to serve", || async { get(bed.http(), "plain.test", "/").await.map(|_| ()) }).await;
    let answer = bed.get("plain.test", "/").await;
    assert!(
        answer.status == 200 && ["echo0", "echo1"].contains(&answer.name()),
        "before or after the change: {answer:?}"
    );
    bed.until_certificate("foo.bar", "foo").await;
    assert_eq!(bed.get("foo.bar", "/").await.status, 302);
    let (_, worker, _) = bed.processes().await;
    haproxy.kill().unwrap();
    haproxy.wait().unwrap();
    bed.kill(worker);
});

on_every_branch!(a_restarted_controller_without_a_difference_changes_nothing, |bed| async move {
    let echoes = application(&bed).await;
    // A new Service is in a spare backend where there are some, and stays there.
    bed.put("late.yaml", &simple("late", echoes[2].address));
    bed.until_name("late.test", "/", "echo2").await;
    let stands_for = |name: &str| {
        let shards = std::fs::read_dir(bed.path("etc")).unwrap().map(|entry| entry.unwrap().path());
        let line = format!("  # stands for {name}\n");
        shards
            .filter(|path| path.is_file())
            .any(|path| std::fs::read_to_string(path).unwrap().contains(&line))
    };
    assert_eq!(stands_for("default_late_80"), bed.branch.has_dynamic_servers());
    bed.stop_controller().await;
    // The test keeps HAProxy running by itself, as the other container of a pod does.
    let socket = bed.path("run/master.sock");
    let mut haproxy = std::process::Command::new(bed.branch.program())
        .args([
            "-W",
            "-db",
            "-S",
            &format!("{},mode,660", socket.display()),
            "-f",
            bed.path("etc").to_str().unwrap(),
        ])
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    bed.until_name("plain.test", "/", "echo0").await;
    let before = bed.processes().await;
    let files = fingerprint(&bed);
    let marker = bed.log().len();
    bed.start_sidecar();
    until("the first update", || async {
        let log = bed.log();
        if log[marker..].contains("finish haproxy update") { Ok(()) } else { Err(log[marker..].to_owned()) }
    })
    .await;
    answers(&bed, "echo0").await;
    bed.until_name("late.test", "/", "echo2").await;
    assert_eq!(bed.processes().await, before, "no reload\n{}", &bed.log()[marker..]);
    assert_eq!(fingerprint(&bed), files, "no file changed");
    let log = bed.log();
    assert!(log[marker..].contains("outcome=unchanged"), "{}", &log[marker..]);
    bed.stop_controller().await;
    // The sidecar HAProxy is not the controller's: it goes on.
    assert_eq!(bed.get("plain.test", "/").await.status, 200);
    let (_, worker, _) = bed.processes().await;
    haproxy.kill().unwrap();
    haproxy.wait().unwrap();
    bed.kill(worker);
});

/// Name, length and inode of every file HAProxy reads. Copies of the last good files come and go around a reload.
fn fingerprint(bed: &Bed) -> Vec<(std::path::PathBuf, u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    let mut found = Vec::new();
    let mut folders = vec![bed.path("etc"), bed.path("lib")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.ends_with("last-good") || path.ends_with("pending") {
                continue;
            }
            let meta = std::fs::metadata(&path).unwrap();
            if meta.is_dir() {
                folders.push(path);
            } else {
                found.push((path, meta.len(), meta.ino()));
            }
        }
    }
    found.sort();
    found
}

on_every_branch!(touching_a_manifest_without_a_difference_changes_nothing, |bed| async move {
    let echoes = application(&bed).await;
    bed.until_settled().await;
    let (before, files) = (bed.processes().await, fingerprint(&bed));
    bed.put("endpoints.yaml", &endpoints("app", &[echoes[0].address]));
    bed.put(
        "plain.yaml",
        &("# a comment\n".to_owned() + &ingress("plain", &[("plain.test", "Prefix", "/", "app")])),
    );
    // Something that does change tells that the others have been read.
    bed.put("z.yaml", &ingress("z", &[("z.test", "Prefix", "/", "app")]));
    bed.until_name("z.test", "/", "echo0").await;
    bed.remove("z.yaml");
    bed.until_status("z.test", "/", 404).await;
    assert_eq!(bed.processes().await, before);
    let now: Vec<_> =
        fingerprint(&bed).into_iter().filter(|(path, ..)| !path.ends_with("maps/prefix.map")).collect();
    let then: Vec<_> = files.into_iter().filter(|(path, ..)| !path.ends_with("maps/prefix.map")).collect();
    assert_eq!(now, then, "only the map of the new host was written");
});

on_every_branch!(a_reload_that_haproxy_refuses_leaves_the_last_good_configuration, |bed| async move {
    let _echoes = application(&bed).await;
    let before = bed.worker().await;
    // HAProxy reads every *.cfg in the folder: one it cannot parse makes every reload fail, whoever put it there.
    std::fs::write(bed.path("etc/zz.cfg"), "this is no section\n").unwrap();
    let other = Echo::start("other").await;
    bed.put("other.yaml", &too_many_applications("other", other.address));
    bed.until_logged(&["configuration-refused"]).await;
    bed.until_logged(&["outcome=refused"]).await;
    assert!(!bed.log().contains("haproxy successfully reloaded (external)\nstarting"), "{}", bed.log());
    assert_eq!(bed.worker().await, before, "the old worker serves on");
    answers(&bed, "echo0").await;
    // The folder holds the last good text, not the refused one, and live changes go on.
    until("the last good text to be back", || async {
        if bed.path("etc/pending").exists() { Err("pending".to_owned()) } else { Ok(()) }
    })
    .await;
    bed.put("live.yaml", &ingress("live", &[("live.test", "Prefix", "/", "app")]));
    bed.until_name("live.test", "/", "echo0").await;
    assert_eq!(bed.get("other-69.test", "/").await.status, 404, "it waits for the reload");
    std::fs::remove_file(bed.path("etc/zz.cfg")).unwrap();
    // Mended: it is tried again without anybody's help.
    bed.until_name("other-69.test", "/", "other").await;
    bed.until_name("other-00.test", "/", "other").await;
    bed.until_logged(&["haproxy successfully reloaded (external)"]).await;
});

on_every_branch!(sigterm_stops_in_order, |bed| async move {
    let echoes = application(&bed).await;
    let slow = tokio::spawn({
        let bed = bed.clone();
        async move { bed.get("plain.test", "/wait").await }
    });
    until("the request to reach the pod", || async {
        if echoes[0].waiting() == 1 { Ok(()) } else { Err(String::new()) }
    })
    .await;
    let stopping = tokio::spawn({
        let bed = bed.clone();
        async move { bed.stop_controller().await }
    });
    // HAProxy stops softly: no new connection, but what runs is finished.
    until("the listener to close", || async {
        match tokio::net::TcpStream::connect(bed.http()).await {
            Ok(_) => Err("still open".to_owned()),
            Err(_) => Ok(()),
        }
    })
    .await;
    echoes[0].release(1);
    assert_eq!(slow.await.unwrap().name(), "echo0");
    stopping.await.unwrap();
    assert!(bed.master("show proc").is_err(), "HAProxy is gone");
});

/// Wherever in an update HAProxy is killed, it comes back to answers from before or after the update, and never to others.
async fn killed_anywhere(bed: std::sync::Arc<Bed>) {
    let echoes = application(&bed).await;
    bed.put(
        "plain.yaml",
        &ingress("plain", &[("plain.test", "Prefix", "/", "app"), ("spare.test", "Prefix", "/", "app")]),
    );
    bed.until_name("spare.test", "/", "echo0").await;
    // The point of the update is this test's parameter: from its first file to long after its reload. Few rounds: a HAProxy
    // that dies again and again is started ever more slowly.
    for (round, pause) in [0, 5, 15, 30, 60, 120].into_iter().enumerate() {
        let (name, echo) = (format!("moved{round}"), &echoes[round % 3]);
        bed.until_settled().await;
        let (master, worker, _) = bed.processes().await;
        // More new backends than there are spares: the update is a reload that moves routes which are in use. One of them
        // can wait in a spare, the other cannot.
        let (first, last) = (format!("{name}-00"), format!("{name}-69"));
        let rules = [("plain.test", "Prefix", "/", last.as_str()), ("spare.test", "Prefix", "/", &first)];
        bed.put("plain.yaml", &(too_many_applications(&name, echo.address) + &ingress("plain", &rules)));
        bed.until_started().await;
        tokio::time::sleep(std::time::Duration::from_millis(pause)).await;
        bed.kill(master);
        bed.kill(worker);
        for _ in 0..50 {
            // Refused connections are HAProxy being away; an answer must be a right one.
            for host in ["plain.test", "spare.test"] {
                if let Ok(answer) = get(bed.http(), host, "/").await {
                    assert_eq!(answer.status, 200, "round {round}, {host}: {answer:?}");
                }
            }
        }
        bed.until_name("plain.test", "/", &format!("echo{}", round % 3)).await;
        bed.until_name("spare.test", "/", &format!("echo{}", round % 3)).await;
        bed.until_certificate("foo.bar", "foo").await;
    }
    let log = bed.log();
    assert!(
        !log.contains("Fatal errors found in configuration"),
        "HAProxy found files it could not start with:\n{log}"
    );
}

on_branch!(haproxy_2_2_killed_at_any_point_of_an_update_has_the_same_answers, Branch(2, 2), [], |bed| {
    Box::pin(killed_anywhere(bed))
});
on_branch!(haproxy_2_6_killed_at_any_point_of_an_update_has_the_same_answers, Branch(2, 6), [], |bed| {
    Box::pin(killed_anywhere(bed))
});
on_branch!(haproxy_3_2_killed_at_any_point_of_an_update_has_the_same_answers, Branch(3, 2), [], |bed| {
    Box::pin(killed_anywhere(bed))
});

/// Few file descriptors (containers may have few): everything is served, and nothing is said that is not true.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_low_limit_of_descriptors_still_serves_every_service() {
    let echo = Echo::start("echo").await;
    let mut text = String::new();
    for i in 0..300 {
        let name = format!("app{i}");
        text.push_str(&service(&name));
        text.push_str(&endpoints(&name, &[echo.address]));
        text.push_str(&ingress(&name, &[(&format!("host{i}.test"), "Prefix", "/", &name)]));
    }
    for branch in [Branch(2, 6), Branch(3, 2)] {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("haproxy");
        let script = format!("#!/bin/bash\nulimit -n 300\nexec {} \"$@\"\n", branch.program().display());
        std::fs::write(&program, script).unwrap();
        std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let bed =
            Bed::start_with(branch, &["--program", program.to_str().unwrap()], &[("all.yaml", &text)]).await;
        for i in [0, 150, 299] {
            bed.until_name(&format!("host{i}.test"), "/", "echo").await;
        }
        bed.check_after_test().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn metrics_say_what_happened_and_only_when_asked_for() {
    let port = crate::support::free_port();
    let port_flag = format!("--controller-port={port}");
    let bed = Bed::start(Branch(3, 2), &[&port_flag, "--prometheus"]).await;
    let echo = Echo::start("echo").await;
    bed.put("app.yaml", &(service("app") + &endpoints("app", &[echo.address])));
    bed.put("a.yaml", &ingress("a", &[("foo.bar", "Prefix", "/", "app")]));
    bed.until_name("foo.bar", "/", "echo").await;
    until("the update and the files to be counted", || async {
        let text = get(bed.address(port), "x", "/metrics").await?.body;
        let number = |line: &str| -> f64 {
            let found = text.lines().find_map(|l| l.strip_prefix(line)?.trim().parse().ok());
            found.unwrap_or(0.0)
        };
        let live = number("outrigger_updates_total{outcome=\"live\"}");
        let memory = number("process_resident_memory_bytes");
        if live >= 1.0 && memory > 1e6 && text.ends_with("# EOF\n") { Ok(()) } else { Err(text) }
    })
    .await;
    assert_eq!(get(bed.address(port), "x", "/livez").await.unwrap().status, 200);
    bed.check_after_test().await;

    let port = crate::support::free_port();
    let bed = Bed::start(Branch(3, 2), &[&format!("--controller-port={port}")]).await;
    assert_eq!(get(bed.address(port), "x", "/metrics").await.unwrap().status, 404);
    bed.check_after_test().await;
}
