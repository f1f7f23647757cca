use std::sync::Arc;

use bytes::Bytes;
use rustls::pki_types::ServerName;
use tokio::net::UnixStream;

use crate::haproxy::testing::{AnyCertificate, BRANCHES, Haproxy, pem, soon};
use crate::haproxy::{CommandError, Request, Worker};
use crate::plan::Command;

fn add(file: &str, pem: &Bytes) -> Command {
    Command::AddCertificate { file: file.into(), pem: pem.clone() }
}

fn set(file: &str, pem: &Bytes) -> Command {
    Command::SetCertificate { file: file.into(), pem: pem.clone() }
}

fn list(file: &str, filters: &str) -> Command {
    Command::AddToList { file: file.into(), filters: filters.into() }
}

async fn run(worker: &mut Worker, commands: &[Command]) {
    for command in commands {
        worker.run(command).await.unwrap_or_else(|error| panic!("{command:?}: {error}"));
    }
}

/// The certificate that a client gets for this name.
async fn served(haproxy: &Haproxy, host: &str) -> Vec<u8> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(AnyCertificate))
        .with_no_client_auth();
    let socket = UnixStream::connect(haproxy.volumes.run.join("https.sock")).await.unwrap();
    let name = ServerName::try_from(host.to_owned()).unwrap();
    let stream = tokio_rustls::TlsConnector::from(Arc::new(config)).connect(name, socket).await.unwrap();
    stream.get_ref().1.peer_certificates().unwrap()[0].to_vec()
}

fn der(pem: &Bytes) -> Vec<u8> {
    x509_parser::pem::parse_x509_pem(pem).unwrap().1.contents
}

#[tokio::test]
async fn certificates_are_added_renewed_and_removed_live() {
    for branch in BRANCHES {
        let haproxy = Haproxy::start(branch);
        let master = haproxy.master().await;
        let pid = master.info(soon()).await.unwrap().pid;
        let mut worker = haproxy.worker(&master).await;
        let default = served(&haproxy, "a.test").await;
        let (first, second, other) = (pem("a.test"), pem("a.test"), pem("b.test"));
        run(&mut worker, &[add("a.pem", &first), list("a.pem", "a.test *.a.test"), add("b.pem", &other)])
            .await;
        assert_eq!(served(&haproxy, "a.test").await, der(&first), "{branch}");
        assert_eq!(served(&haproxy, "x.a.test").await, der(&first), "{branch}");
        assert_eq!(served(&haproxy, "b.test").await, default, "{branch}: not in the list");
        let running = worker.running().await.unwrap();
        let files: Vec<&str> = running.certificates.iter().map(AsRef::as_ref).collect();
        assert_eq!(files, ["a.pem", "b.pem", "default.pem"], "{branch}");
        assert_eq!(&*running.list["a.pem"], "a.test *.a.test", "{branch}");
        assert_eq!(running.list.len(), 2);

        run(&mut worker, &[set("a.pem", &second), list("b.pem", "b.test")]).await;
        assert_eq!(served(&haproxy, "a.test").await, der(&second), "{branch}");
        assert_eq!(served(&haproxy, "b.test").await, der(&other), "{branch}");

        let off = Command::RemoveFromList { file: "a.pem".into() };
        let gone = Command::DeleteCertificate { file: "a.pem".into() };
        assert!(worker.run(&gone).await.is_err(), "{branch}: it is in use");
        run(&mut worker, &[off, gone]).await;
        assert_eq!(served(&haproxy, "a.test").await, default, "{branch}");
        run(&mut worker, &[set("default.pem", &pem("default.test"))]).await;
        assert_ne!(served(&haproxy, "a.test").await, default, "{branch}");
        assert_eq!(master.info(soon()).await.unwrap().pid, pid, "{branch}");
    }
}

/// On 2.6 `set ssl cert B` would put B's key into A when a transaction for A was left open.
#[tokio::test]
async fn a_forgotten_transaction_does_no_harm() {
    for branch in BRANCHES {
        let haproxy = Haproxy::start(branch);
        let master = haproxy.master().await;
        let mut worker = haproxy.worker(&master).await;
        let (a, b, forgotten) = (pem("a.test"), pem("b.test"), pem("forgotten.test"));
        run(&mut worker, &[add("a.pem", &a), list("a.pem", "a.test")]).await;
        let path = haproxy.volumes.certificates().join("a.pem");
        let open = Request::worker("set ssl cert").word(&path.to_string_lossy()).unwrap();
        let open = open.payload(std::str::from_utf8(&forgotten).unwrap()).unwrap();
        assert!(master.send(open, soon()).await.unwrap().text.starts_with("Transaction created"), "{branch}");
        run(&mut worker, &[add("b.pem", &b), list("b.pem", "b.test")]).await;
        assert_eq!(served(&haproxy, "a.test").await, der(&a), "{branch}");
        assert_eq!(served(&haproxy, "b.test").await, der(&b), "{branch}");
    }
}

#[tokio::test]
async fn a_certificate_that_haproxy_refuses_changes_nothing() {
    for branch in BRANCHES {
        let haproxy = Haproxy::start(branch);
        let master = haproxy.master().await;
        let mut worker = haproxy.worker(&master).await;
        let good = pem("a.test");
        run(&mut worker, &[add("a.pem", &good), list("a.pem", "a.test")]).await;
        let before = worker.running().await.unwrap();
        let other = pem("a.test");
        let text = std::str::from_utf8(&other).unwrap();
        let without_key = Bytes::from(text.split("-----BEGIN PRIVATE KEY").next().unwrap().to_owned());
        for (bad, command) in [
            ("rubbish", set("a.pem", &Bytes::from_static(b"rubbish"))),
            ("rubbish", add("new.pem", &Bytes::from_static(b"rubbish"))),
            ("without key", set("a.pem", &without_key)),
            ("without key", add("new.pem", &without_key)),
        ] {
            let error = match worker.run(&command).await {
                Err(error) => error,
                // 3.4 loads a certificate without key (it has other uses there).
                Ok(()) if branch == "3.4" && matches!(command, Command::AddCertificate { .. }) => {
                    run(&mut worker, &[Command::DeleteCertificate { file: "new.pem".into() }]).await;
                    continue;
                }
                Ok(()) => panic!("{branch}: {bad} was accepted"),
            };
            assert!(matches!(error, CommandError::Unexpected { .. }), "{branch}: {error}");
            assert!(!format!("{error} {error:?}").contains("BEGIN"), "{branch}: {error:?}");
        }
        let large = Bytes::from("x".repeat(16_000));
        for command in [set("a.pem", &large), add("new.pem", &large)] {
            assert!(matches!(worker.run(&command).await, Err(CommandError::TooLarge(_))), "{branch}");
        }
        assert_eq!(worker.running().await.unwrap(), before, "{branch}");
        assert_eq!(served(&haproxy, "a.test").await, der(&good), "{branch}");
    }
}

/// An addition whose outcome was unknown may have happened twice.
#[tokio::test]
async fn a_certificate_listed_twice_loses_its_older_line() {
    for branch in BRANCHES {
        let haproxy = Haproxy::start(branch);
        let master = haproxy.master().await;
        let mut worker = haproxy.worker(&master).await;
        let certificate = pem("a.test");
        let off = Command::RemoveFromList { file: "a.pem".into() };
        let gone = Command::DeleteCertificate { file: "a.pem".into() };
        run(&mut worker, &[add("a.pem", &certificate), list("a.pem", "a.test"), list("a.pem", "b.test")])
            .await;
        run(&mut worker, std::slice::from_ref(&off)).await;
        assert_eq!(
            worker.running().await.unwrap().list.get("a.pem").map(AsRef::as_ref),
            Some("b.test"),
            "{branch}"
        );
        run(&mut worker, &[off, gone]).await;
        assert_eq!(worker.running().await.unwrap().certificates.len(), 1, "{branch}");
    }
}
