//! How connections are kept, and compression.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::{response, settings, until_closed};
use crate::support::manifests::application;
use crate::support::{Branch, until};

/// A pod that keeps its connections, and answers everything with a long HTML page.
struct Keeper {
    address: std::net::SocketAddr,
    /// How many requests asked for the end of their connection.
    closing: Arc<AtomicUsize>,
}

impl Keeper {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let closing = Arc::new(AtomicUsize::new(0));
        let counted = closing.clone();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let closing = counted.clone();
                tokio::spawn(async move {
                    let mut bytes = [0; 4096];
                    let mut request = String::new();
                    while let Ok(read @ 1..) = stream.read(&mut bytes).await {
                        request.push_str(&String::from_utf8_lossy(&bytes[..read]));
                        if !request.ends_with("\r\n\r\n") {
                            continue;
                        }
                        let kind = if request.contains("/text") { "text/plain" } else { "text/html" };
                        if request.to_lowercase().contains("\r\nconnection: close\r\n") {
                            closing.fetch_add(1, Ordering::SeqCst);
                        }
                        request.clear();
                        let body = "<p>all the same</p>".repeat(200);
                        let answer = format!(
                            "HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\r\n{body}",
                            body.len()
                        );
                        if stream.write_all(answer.as_bytes()).await.is_err() {
                            return;
                        }
                    }
                });
            }
        });
        Self { address, closing }
    }

    /// Two requests on one connection: whether it was kept, and how many of them asked the pod to close its own.
    async fn two_requests(&self, http: std::net::SocketAddr) -> Result<(bool, usize), String> {
        let before = self.closing.load(Ordering::SeqCst);
        let mut stream = TcpStream::connect(http).await.map_err(|e| e.to_string())?;
        let mut kept = true;
        for _ in 0..2 {
            let sent = stream.write_all(b"GET / HTTP/1.1\r\nHost: app.test\r\n\r\n").await;
            let answer = match sent {
                Ok(()) => response(&mut stream).await,
                Err(error) => Err(error.to_string()),
            };
            match answer {
                Ok(answer) if !answer.starts_with("HTTP/1.1 200") => return Err(answer),
                Ok(_) => {}
                Err(_) => kept = false,
            }
        }
        Ok((kept, self.closing.load(Ordering::SeqCst) - before))
    }
}

on_every_branch!(
    connections_are_kept_as_the_mode_says,
    ["--configmap=default/settings", "--reload-interval=10ms"],
    |bed| async move {
        let pod = Keeper::start().await;
        bed.put("app.yaml", &application("app", pod.address));
        bed.until_status("app.test", "/", 200).await;
        let expect = async |pairs: &[(&str, &str)], expected: (bool, usize)| {
            bed.put("settings.yaml", &settings(pairs));
            until(&format!("{expected:?} with {pairs:?}"), || async {
                match pod.two_requests(bed.http()).await? {
                    found if found == expected => Ok(()),
                    other => Err(format!("{other:?}")),
                }
            })
            .await;
        };
        expect(&[], (true, 0)).await;
        expect(&[("http-connection-mode", "http-server-close")], (true, 2)).await;
        expect(&[("http-connection-mode", "httpclose")], (false, 1)).await;
        expect(&[("http-connection-mode", "http-keep-alive"), ("http-keep-alive", "false")], (true, 0)).await;
        expect(&[("http-server-close", "true")], (true, 2)).await;
        expect(&[("http-keep-alive", "false")], (false, 1)).await;
        expect(&[("http-connection-mode", "forceclose")], (true, 0)).await;
        bed.until_logged(&["value-invalid", "`forceclose`"]).await;
        bed.proves(&["http-connection-mode", "http-keep-alive", "http-server-close"]);
    }
);

on_every_branch!(
    responses_are_compressed,
    ["--configmap=default/settings", "--reload-interval=10ms"],
    |bed| async move {
        let pod = Keeper::start().await;
        bed.put("app.yaml", &application("app", pod.address));
        bed.until_status("app.test", "/", 200).await;
        let encoding = async |path: &str, accepted: &str| {
            let request = format!(
                "GET {path} HTTP/1.1\r\nHost: app.test\r\nAccept-Encoding: {accepted}\r\nConnection: close\r\n\r\n"
            );
            let answer = until_closed(bed.http(), request.as_bytes()).await?;
            let (head, body) = answer.split_once("\r\n\r\n").ok_or_else(|| answer.clone())?;
            let encoding = head.lines().find_map(|line| line.strip_prefix("content-encoding: "));
            Ok::<_, String>((encoding.unwrap_or("none").to_owned(), body.len()))
        };
        let expect = async |path: &str, accepted: &str, expected: &str| {
            until(&format!("{expected} for {path}"), || async {
                match encoding(path, accepted).await? {
                    (encoding, _) if encoding == expected => Ok(()),
                    other => Err(format!("{other:?}")),
                }
            })
            .await;
        };
        expect("/", "gzip", "none").await;
        bed.put("settings.yaml", &settings(&[("compression-algo", "gzip deflate")]));
        expect("/", "gzip", "gzip").await;
        expect("/", "deflate", "deflate").await;
        expect("/", "br", "none").await;
        assert!(encoding("/", "gzip").await.unwrap().1 < 1000);
        expect("/text", "gzip", "gzip").await;
        bed.put(
            "settings.yaml",
            &settings(&[("compression-algo", "gzip"), ("compression-type", "text/html")]),
        );
        expect("/text", "gzip", "none").await;
        expect("/", "gzip", "gzip").await;
        bed.proves(&["compression-algo", "compression-type"]);
    }
);
