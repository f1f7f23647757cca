//! TCP services: a port each, from the ConfigMap that a flag names.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::global_keys::{config_map, settings};
use crate::support::certificates::ecdsa;
use crate::support::client::{Hello, connect_tls};
use crate::support::manifests::{endpoints, ingress_with, service, tls_secret};
use crate::support::{Bed, Branch, free_port, until};

/// A server that says its name and repeats what it gets, line by line.
async fn parrot(name: &'static str) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut bytes = [0; 4096];
                while let Ok(read @ 1..) = stream.read(&mut bytes).await {
                    let mut answer = format!("{name}:").into_bytes();
                    answer.extend(&bytes[..read]);
                    if stream.write_all(&answer).await.is_err() {
                        return;
                    }
                }
            });
        }
    });
    address
}

async fn say(stream: &mut (impl AsyncReadExt + AsyncWriteExt + Unpin), text: &str) -> Result<String, String> {
    stream.write_all(text.as_bytes()).await.map_err(|e| e.to_string())?;
    let mut bytes = [0; 4096];
    match tokio::time::timeout(Duration::from_secs(20), stream.read(&mut bytes)).await {
        Ok(Ok(0)) => Err("closed".to_owned()),
        Ok(Ok(read)) => Ok(String::from_utf8_lossy(&bytes[..read]).into_owned()),
        Ok(Err(error)) => Err(error.to_string()),
        Err(_) => Err("no answer".to_owned()),
    }
}

async fn say_once(address: SocketAddr, text: &str) -> Result<String, String> {
    let mut stream = TcpStream::connect(address).await.map_err(|e| e.to_string())?;
    say(&mut stream, text).await
}

async fn until_said(bed: &Bed, port: u16, text: &str, expected: &str) {
    until(&format!("{expected:?} on {port}"), || async {
        let answer = say_once(bed.address(port), text).await?;
        if answer == expected { Ok(()) } else { Err(answer) }
    })
    .await;
}

async fn until_refused(bed: &Bed, port: u16) {
    until(&format!("nobody on {port}"), || async {
        match say_once(bed.address(port), "x").await {
            Err(_) => Ok(()),
            Ok(answer) => Err(answer),
        }
    })
    .await;
}

on_every_branch!(
    bytes_go_through_and_endpoints_change_live,
    ["--configmap-tcp-services=default/tcp", "--reload-interval=10ms"],
    |bed| async move {
        let (first, second) = (parrot("first").await, parrot("second").await);
        let (port, other) = (free_port(), free_port());
        bed.put("db.yaml", &(service("db") + &endpoints("db", &[first])));
        bed.put("tcp.yaml", &config_map("tcp", &[(&port.to_string(), "default/db:80")]));
        until_said(&bed, port, "hello", "first:hello").await;
        bed.until_logged(&[&format!("tcp-{port}"), "default_db_80"]).await;
        let worker = bed.worker().await;
        let mut open = TcpStream::connect(bed.address(port)).await.unwrap();
        assert_eq!(say(&mut open, "one").await.unwrap(), "first:one");

        // Other endpoints: no reload, and a connection that is open stays.
        bed.put("db.yaml", &(service("db") + &endpoints("db", &[second])));
        until_said(&bed, port, "hello", "second:hello").await;
        assert_eq!(bed.worker().await, worker, "no reload was needed");
        // The old server is drained; what it has goes on, where servers come and go.
        if bed.branch.has_dynamic_servers() {
            assert_eq!(say(&mut open, "two").await.unwrap(), "first:two");
        }

        // Mistakes, each at its entry, and the good one goes on.
        let (stats, port_text, other_text) =
            (bed.ports.stats.to_string(), port.to_string(), other.to_string());
        let entries = [
            (port_text.as_str(), "default/db:http"),
            (&stats, "default/db:80"),
            ("70000", "default/db:80"),
            ("web", "default/db:80"),
            (&other_text, "default/gone:80"),
            ("1", "default/db:81"),
            ("2", "db:80"),
            ("3", "default/db:80:::nothing"),
            ("log-format-tcp", "%r"),
        ];
        bed.put("tcp.yaml", &config_map("tcp", &entries));
        for (key, code) in [
            (stats.as_str(), "port-conflict"),
            ("70000", "tcp-service-invalid"),
            ("web", "tcp-service-invalid"),
            (&other_text, "service-not-found"),
            ("1", "service-port-not-found"),
            ("2", "tcp-service-invalid"),
            ("3", "secret-not-found"),
            ("log-format-tcp", "value-invalid"),
        ] {
            bed.until_logged(&[code, &format!("ConfigMap default/tcp, {key}:")]).await;
        }
        until_said(&bed, port, "hello", "second:hello").await;
        until_refused(&bed, other).await;
        // The Service comes, and its port is opened; it goes, and the port is closed.
        bed.put("gone.yaml", &(service("gone") + &endpoints("gone", &[first])));
        until_said(&bed, other, "x", "first:x").await;
        bed.remove("gone.yaml");
        until_refused(&bed, other).await;
        bed.remove("tcp.yaml");
        until_refused(&bed, port).await;
        bed.proves(&["configmap-tcp-services"]);
    }
);

on_every_branch!(
    tls_ends_at_the_port,
    ["--configmap-tcp-services=default/tcp", "--reload-interval=10ms"],
    |bed| async move {
        let address = parrot("db").await;
        let (listed, own) = (free_port(), free_port());
        let (host, secret) = (ecdsa("host", &["db.test"]), ecdsa("own", &["db.test"]));
        bed.put("db.yaml", &(service("db") + &endpoints("db", &[address])));
        bed.put(
            "ingress.yaml",
            &(tls_secret("host", &host.certificate, &host.key)
                + &tls_secret("own", &secret.certificate, &secret.key)
                + &ingress_with(
                    "a",
                    "2024-01-01T00:00:00Z",
                    "",
                    &[("db.test", "Prefix", "/", "db")],
                    "  tls:\n  - hosts: [db.test]\n    secretName: host\n",
                )),
        );
        let entries = [(listed.to_string(), "default/db:80:ssl"), (own.to_string(), "default/db:80:::own:-")];
        let entries: Vec<(&str, &str)> =
            entries.iter().map(|(port, entry)| (port.as_str(), *entry)).collect();
        bed.put("tcp.yaml", &config_map("tcp", &entries));
        let expect = async |port: u16, name: &str, common_name: &str| {
            until(&format!("{common_name} on {port}"), || async {
                let (mut stream, handshake) =
                    connect_tls(bed.address(port), Some(name), &Hello::default()).await?;
                let answer = say(&mut stream, "x").await?;
                if handshake.common_name == common_name && answer == "db:x" {
                    Ok(())
                } else {
                    Err(format!("{handshake:?} {answer}"))
                }
            })
            .await;
        };
        expect(listed, "db.test", "host").await;
        expect(listed, "other.test", "Outrigger self-signed certificate").await;
        expect(own, "db.test", "own").await;
        expect(own, "other.test", "own").await;
        // Renewed.
        let renewed = ecdsa("renewed", &["db.test"]);
        bed.put(
            "ingress.yaml",
            &(tls_secret("host", &renewed.certificate, &renewed.key)
                + &tls_secret("own", &renewed.certificate, &renewed.key)
                + &ingress_with(
                    "a",
                    "2024-01-01T00:00:00Z",
                    "",
                    &[("db.test", "Prefix", "/", "db")],
                    "  tls:\n  - hosts: [db.test]\n    secretName: host\n",
                )),
        );
        expect(listed, "db.test", "renewed").await;
        expect(own, "db.test", "renewed").await;
        assert!(!bed.log().contains("PRIVATE KEY"));
        bed.proves(&["configmap-tcp-services"]);
    }
);

on_every_branch!(
    the_proxy_protocol_comes_in_and_goes_out,
    ["--configmap-tcp-services=default/tcp", "--configmap=default/settings", "--reload-interval=10ms"],
    |bed| async move {
        let address = parrot("db").await;
        let [inside, v1, v2] = [free_port(), free_port(), free_port()];
        bed.put("db.yaml", &(service("db") + &endpoints("db", &[address])));
        let [a, b, c] = [inside, v1, v2].map(|port| port.to_string());
        let own_format = format!("log-format-tcp.{a}");
        let entries = [
            (a.as_str(), "default/db:80:PROXY"),
            (&b, "default/db:80::PROXY-V1"),
            (&c, "default/db:80::PROXY"),
            ("log-format-tcp", "all-of-them %ft"),
            (&own_format, "own-line %ci %ft"),
        ];
        bed.put("tcp.yaml", &config_map("tcp", &entries));
        let header = "PROXY TCP4 203.0.113.7 192.0.2.1 1234 5678\r\n";
        until_said(&bed, inside, &format!("{header}hello"), "db:hello").await;
        bed.until_logged(&[&format!("own-line 203.0.113.7 tcp-{a}")]).await;
        assert!(say_once(bed.address(inside), "no header\r\n").await.is_err());
        // Before 2.6 servers are slots; keywords of the servers' own are the servers' family of keys.
        if bed.branch.has_dynamic_servers() {
            until("a header of version 1", || async {
                let answer = say_once(bed.address(v1), "hello").await?;
                if answer.starts_with("db:PROXY TCP4 127.0.0.1 127.0.0.1 ") { Ok(()) } else { Err(answer) }
            })
            .await;
            until("a header of version 2", || async {
                let answer = say_once(bed.address(v2), "hello").await?;
                if answer.starts_with("db:\r\n\r\n\0\r\nQUIT\n") {
                    Ok(())
                } else {
                    Err(format!("{answer:?}"))
                }
            })
            .await;
        }
        let _ = say_once(bed.address(v1), "x").await;
        bed.until_logged(&["all-of-them tcp-"]).await;
        // The format of the other ConfigMap counts when this one has none; and JSON.
        bed.put("tcp.yaml", &config_map("tcp", &[(&a, "default/db:80")]));
        bed.put("settings.yaml", &settings(&[("log-format-tcp", "general %ft %B")]));
        until("a line in the general format", || async {
            until_said(&bed, inside, "x", "db:x").await;
            if bed.log().contains(&format!("general tcp-{a} ")) { Ok(()) } else { Err(bed.log_tail()) }
        })
        .await;
        bed.put("settings.yaml", &settings(&[("log-format-tcp", "json")]));
        until("a JSON line", || async {
            until_said(&bed, inside, "x", "db:x").await;
            let log = bed.log();
            let line = log.lines().find_map(|line| Some(&line[line.find("{\"time\"")?..]));
            let line = line.ok_or_else(|| bed.log_tail())?;
            let object: serde_json::Value = serde_json::from_str(line).map_err(|e| format!("{e}: {line}"))?;
            if object["frontend"] == format!("tcp-{a}") { Ok(()) } else { Err(line.to_owned()) }
        })
        .await;
        bed.proves(&["configmap-tcp-services", "log-format-tcp"]);
    }
);

on_every_branch!(
    half_closed_connections_end_soon,
    ["--configmap-tcp-services=default/tcp", "--configmap=default/settings", "--reload-interval=10ms"],
    |bed| async move {
        // One server that never closes, one that closes its half at once; both tell when HAProxy is gone.
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let silent = listener.local_addr().unwrap();
        tokio::spawn(async move {
            let mut kept = Vec::new();
            while let Ok((stream, _)) = listener.accept().await {
                kept.push(stream);
            }
        });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let closing = listener.local_addr().unwrap();
        let (gone, mut ended) = tokio::sync::mpsc::unbounded_channel();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let gone = gone.clone();
                tokio::spawn(async move {
                    let _ = stream.shutdown().await;
                    let _ = stream.read(&mut [0; 1]).await;
                    let _ = gone.send(());
                });
            }
        });
        let [to_silent, to_closing] = [free_port(), free_port()];
        bed.put(
            "apps.yaml",
            &(service("silent")
                + &endpoints("silent", &[silent])
                + &service("closing")
                + &endpoints("closing", &[closing])),
        );
        let (a, b) = (to_silent.to_string(), to_closing.to_string());
        bed.put("tcp.yaml", &config_map("tcp", &[(&a, "default/silent:80"), (&b, "default/closing:80")]));
        bed.put(
            "settings.yaml",
            &settings(&[("timeout-server-fin", "300ms"), ("timeout-client-fin", "300ms")]),
        );
        bed.until_settled().await;
        // 50 s without the keys.
        until("an end after the client's half", || async {
            let mut stream = TcpStream::connect(bed.address(to_silent)).await.map_err(|e| e.to_string())?;
            stream.shutdown().await.map_err(|e| e.to_string())?;
            match tokio::time::timeout(Duration::from_secs(20), stream.read(&mut [0; 1])).await {
                Ok(_) => Ok(()),
                Err(_) => Err("still open".to_owned()),
            }
        })
        .await;
        until("the port to serve", || async {
            TcpStream::connect(bed.address(to_closing)).await.map(drop).map_err(|e| e.to_string())
        })
        .await;
        while ended.try_recv().is_ok() {}
        // The client keeps its half open; the server still sees the end.
        let client = TcpStream::connect(bed.address(to_closing)).await.unwrap();
        tokio::time::timeout(Duration::from_secs(20), ended.recv())
            .await
            .expect("an end after the server's half");
        drop(client);
        bed.proves(&["timeout-client-fin", "timeout-server-fin"]);
    }
);
