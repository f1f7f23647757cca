//! `max-body-size`, `timeout-server`, `timeout-tunnel`.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use super::{app, call, config_map, site, until_status};
use crate::support::client::{Answer, Call};
use crate::support::manifests::{endpoints, ingress_with, service};
use crate::support::{Bed, Branch, Echo, until};

async fn post(bed: &Bed, host: &str, headers: &str, body: &str) -> Answer {
    call(bed, &Call { method: "POST", host, headers, body, ..Call::default() }).await
}

/// Status of the answer to a request whose body never comes. HAProxy keeps the connection for a while, to hear the rest.
async fn announce(bed: &Bed, host: &str, headers: &str) -> u16 {
    let mut stream = TcpStream::connect(bed.http()).await.unwrap();
    let head = format!("POST / HTTP/1.1\r\nHost: {host}\r\n{headers}\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut line = Vec::new();
    while !line.ends_with(b"\r\n") {
        line.push(stream.read_u8().await.unwrap());
    }
    String::from_utf8(line).unwrap().split(' ').nth(1).unwrap().parse().unwrap()
}

on_every_branch!(large_bodies_are_refused, ["--configmap=default/settings"], |bed| async move {
    let echo = Echo::start("echo").await;
    bed.put("app.yaml", &app(echo.address));
    bed.put("small.yaml", &site("small", "max-body-size: 1k"));
    bed.put("large.yaml", &site("large", "max-body-size: 1m"));
    bed.put("open.yaml", &site("open", "max-body-size: \"0\""));
    bed.put("bad.yaml", &site("bad", "max-body-size: one pound"));
    for name in ["small", "large", "open", "bad"] {
        until_status(&bed, &format!("{name}.test"), 1, 200).await;
    }
    bed.until_settled().await;
    let length = |bytes: usize| format!("Content-Length: {bytes}\r\n");
    let text = "x".repeat(1_024);
    assert_eq!(post(&bed, "small.test", &length(1_024), &text).await.status, 200);
    // What is announced counts, before anything comes.
    assert_eq!(announce(&bed, "small.test", &length(1_025)).await, 413);
    assert_eq!(announce(&bed, "small.test", &length(1 << 40)).await, 413);
    let expect = length(1_025) + "Expect: 100-continue\r\n";
    assert_eq!(announce(&bed, "small.test", &expect).await, 413);
    assert_eq!(announce(&bed, "large.test", &length(1_048_577)).await, 413);
    assert_eq!(post(&bed, "large.test", &length(1_024), &text).await.status, 200);
    // Without announced length: small ones pass.
    let chunked = "Transfer-Encoding: chunked\r\n";
    assert_eq!(post(&bed, "small.test", chunked, "3\r\nabc\r\n0\r\n\r\n").await.status, 200);
    for host in ["open.test", "bad.test"] {
        assert_eq!(post(&bed, host, &length(1_024), &text).await.status, 200, "{host}");
    }
    bed.until_logged(&["value-invalid", "default/bad", "one pound"]).await;
    bed.put("settings.yaml", &config_map("settings", &[("max-body-size", "1Ki")]));
    until("the ConfigMap's limit", || async {
        let body = "x".repeat(1_025);
        let call = Call {
            method: "POST",
            host: "bad.test",
            headers: &length(1_025),
            body: &body,
            ..Call::default()
        };
        // The answer may be lost when HAProxy closes before all of the body came.
        let answer = call.send(bed.http()).await?;
        if answer.status == 413 { Ok(()) } else { Err(answer.status.to_string()) }
    })
    .await;
    assert_eq!(post(&bed, "open.test", &length(1_024), &text).await.status, 200, "the Ingress says no limit");
    bed.proves(&["max-body-size"]);
});

on_every_branch!(slow_pods_cost_only_so_much_time, ["--configmap=default/settings"], |bed| async move {
    let echo = Echo::start("echo").await;
    let annotated = service("quick").replace(
        "  namespace: default\n",
        "  namespace: default\n  annotations:\n    haproxy.org/timeout-server: 150ms\n",
    );
    bed.put("app.yaml", &(app(echo.address) + &annotated + &endpoints("quick", &[echo.address])));
    bed.put("short.yaml", &site("short", "timeout-server: 200ms"));
    bed.put("long.yaml", &site("long", ""));
    let rules = [("quick.test", "Prefix", "/", "quick")];
    let slower = "haproxy.org/timeout-server: 10m";
    bed.put("quick.yaml", &ingress_with("quick", "2024-01-01T00:00:00Z", slower, &rules, ""));
    for name in ["short", "long", "quick"] {
        until_status(&bed, &format!("{name}.test"), 1, 200).await;
    }
    let wait = |host| Call { host, path: "/wait", ..Call::default() };
    let waiting = tokio::spawn({
        let bed = bed.clone();
        async move { wait("long.test").send(bed.http()).await }
    });
    until("the slow request", || async { if echo.waiting() == 1 { Ok(()) } else { Err(String::new()) } })
        .await;
    // These give up, the other one does not.
    assert_eq!(call(&bed, &wait("short.test")).await.status, 504);
    assert_eq!(call(&bed, &wait("quick.test")).await.status, 504, "the Service says so, and comes first");
    assert!(!waiting.is_finished());
    echo.release(100);
    assert_eq!(waiting.await.unwrap().unwrap().status, 200);
    // For all of them.
    let late = Echo::start("late").await;
    bed.put("app.yaml", &(app(late.address) + &annotated));
    bed.put("settings.yaml", &config_map("settings", &[("timeout-server", "250ms")]));
    bed.until_name("long.test", "/", "late").await;
    until("the ConfigMap's timeout", || async {
        let header = bed.path("etc");
        let found = std::fs::read_dir(header).unwrap().flatten().any(|entry| {
            std::fs::read_to_string(entry.path()).is_ok_and(|text| text.contains("timeout server 250ms"))
        });
        if found { Ok(()) } else { Err("not yet".to_owned()) }
    })
    .await;
    bed.until_settled().await;
    assert_eq!(call(&bed, &wait("long.test")).await.status, 504);
    bed.proves(&["timeout-server"]);
});

/// A pod that switches protocols and then gives back what it gets.
async fn tunnel() -> std::net::SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut head = Vec::new();
                while !head.ends_with(b"\r\n\r\n") {
                    match stream.read_u8().await {
                        Ok(byte) => head.push(byte),
                        Err(_) => return,
                    }
                }
                let head = String::from_utf8_lossy(&head).to_ascii_lowercase();
                if !head.contains("upgrade: websocket") {
                    let _ = stream
                        .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
                        .await;
                    return;
                }
                let answer = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
                              Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n";
                let _ = stream.write_all(answer.as_bytes()).await;
                let (mut read, mut write) = stream.split();
                let _ = tokio::io::copy(&mut read, &mut write).await;
            });
        }
    });
    address
}

/// An open tunnel through HAProxy.
async fn open(bed: &Bed, host: &str) -> TcpStream {
    let mut stream = TcpStream::connect(bed.http()).await.unwrap();
    let request = format!(
        "GET / HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n\
         Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.unwrap());
    }
    assert!(head.starts_with(b"HTTP/1.1 101"), "{}", String::from_utf8_lossy(&head));
    stream
}

on_every_branch!(silent_tunnels_are_closed, ["--configmap=default/settings"], |bed| async move {
    let address = tunnel().await;
    let annotated = service("quick").replace(
        "  namespace: default\n",
        "  namespace: default\n  annotations:\n    haproxy.org/timeout-tunnel: 150ms\n",
    );
    bed.put("app.yaml", &(app(address) + &annotated + &endpoints("quick", &[address])));
    bed.put("short.yaml", &site("short", "timeout-tunnel: 200ms"));
    bed.put("long.yaml", &site("long", ""));
    let rules = [("quick.test", "Prefix", "/", "quick")];
    bed.put("quick.yaml", &ingress_with("quick", "2024-01-01T00:00:00Z", "", &rules, ""));
    for name in ["short", "long", "quick"] {
        until_status(&bed, &format!("{name}.test"), 1, 200).await;
    }
    bed.until_settled().await;
    let mut long = open(&bed, "long.test").await;
    for host in ["short.test", "quick.test"] {
        let mut stream = open(&bed, host).await;
        // It ends by itself: the client keeps its half open and says nothing.
        let closed = tokio::time::timeout(crate::support::DEADLINE, stream.read(&mut [0])).await;
        assert!(matches!(closed, Ok(Ok(0) | Err(_))), "{host}: {closed:?}");
    }
    long.write_all(b"x").await.unwrap();
    assert_eq!(long.read_u8().await.unwrap(), b'x', "this one is still open");
    bed.put("settings.yaml", &config_map("settings", &[("timeout-tunnel", "250ms")]));
    until("the ConfigMap's timeout", || async {
        let mut stream = open(&bed, "long.test").await;
        let closed = tokio::time::timeout(std::time::Duration::from_secs(2), stream.read(&mut [0])).await;
        if closed.is_ok() { Ok(()) } else { Err("still open".to_owned()) }
    })
    .await;
    bed.proves(&["timeout-tunnel"]);
});
