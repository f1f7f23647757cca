//! A controller that starts and finds everything as it should be does nothing.

use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use super::lab::{self, BRANCH, pod, processes};
use super::space::tls;
use crate::support::certificates::ecdsa;
use crate::support::{Bed, until};

/// HAProxy as the other container of a pod runs it; it ends with its worker when dropped.
struct Sidecar<'a> {
    bed: &'a Bed,
    master: Child,
}

impl<'a> Sidecar<'a> {
    fn start(bed: &'a Bed) -> Self {
        let socket = format!("{},mode,660", bed.path("run/master.sock").display());
        let master = Command::new(bed.branch.program())
            .args(["-W", "-db", "-S", &socket, "-f", bed.path("etc").to_str().unwrap()])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        Self { bed, master }
    }

    async fn stop(mut self) {
        let (_, worker, _) = self.bed.processes().await;
        self.master.kill().unwrap();
        self.master.wait().unwrap();
        self.bed.kill(worker);
    }
}

#[test]
fn a_controller_beside_a_haproxy_that_is_right_changes_nothing() {
    lab::run(async |lab| {
        let space = lab.space("restart").await;
        let (one, two) = (pod("one").await, pod("two").await);
        let bed = lab.bed(BRANCH, &[]).await;
        space.app("app", &[&one, &two]).await;
        space.ingress("app", "restart.test", "app").await;
        bed.until_name("restart.test", "/", "one").await;
        // Live changes, so that it is not only a rendered start that is found again.
        space.endpoints("app", &[&two]).await;
        space.tls_secret("cert", &ecdsa("cert", &["tls.restart.test"])).await;
        space.ingress_with("tls", "tls.restart.test", "app", tls("tls.restart.test", "cert")).await;
        bed.until_name("restart.test", "/", "two").await;
        bed.until_certificate("tls.restart.test", "cert").await;
        processes(&bed).await;
        bed.stop_controller().await;

        let sidecar = Sidecar::start(&bed);
        bed.until_name("restart.test", "/", "two").await;
        let (before, files) = (processes(&bed).await, files(&bed));
        for round in 0..2 {
            let marker = bed.log().len();
            bed.start_sidecar();
            let said = until("the first update", || async {
                let said = bed.log()[marker..].to_owned();
                if said.contains("finish haproxy update") { Ok(said) } else { Err(said) }
            })
            .await;
            assert!(said.contains("outcome=unchanged"), "{said}");
            assert_eq!(processes(&bed).await, before, "no reload\n{said}");
            assert_eq!(self::files(&bed), files, "no file is written\n{said}");
            bed.until_name("restart.test", "/", "two").await;
            if round == 0 {
                bed.kill_controller();
            }
        }
        // And it drives.
        space.endpoints("app", &[&one]).await;
        bed.until_name("restart.test", "/", "one").await;
        assert_eq!(processes(&bed).await, before);
        bed.check_after_test().await;
        sidecar.stop().await;
    });
}

/// Every file that HAProxy reads, with inode and time of the last change.
fn files(bed: &Bed) -> Vec<(PathBuf, u64, i64, i64)> {
    let mut found = Vec::new();
    let mut folders = vec![bed.path("etc"), bed.path("lib")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let meta = std::fs::metadata(&path).unwrap();
            if meta.is_dir() {
                folders.push(path);
            } else {
                found.push((path, meta.ino(), meta.mtime(), meta.mtime_nsec()));
            }
        }
    }
    found.sort();
    found
}
