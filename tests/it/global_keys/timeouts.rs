//! Timeouts: each is short in its test, and everything else would take much longer.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};

use super::{response, settings, until_closed};
use crate::support::manifests::application;
use crate::support::{Branch, Echo, until};

on_every_branch!(
    clients_are_not_waited_for,
    ["--configmap=default/settings", "--reload-interval=10ms"],
    |bed| async move {
        let echo = Echo::start("echo").await;
        bed.put("app.yaml", &application("app", echo.address));
        bed.until_name("app.test", "/", "echo").await;

        bed.put("settings.yaml", &settings(&[("timeout-http-request", "300ms")]));
        until("408 for half a request", || async {
            let answer = until_closed(bed.http(), b"GET / HTTP/1.1\r\nHost: app").await?;
            if answer.starts_with("HTTP/1.1 408") { Ok(()) } else { Err(answer) }
        })
        .await;

        // A client that does not read what it asked for. The default would be 50 s.
        let endless = TcpListener::bind("127.0.0.1:0").await.unwrap();
        bed.put("endless.yaml", &application("endless", endless.local_addr().unwrap()));
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = endless.accept().await {
                tokio::spawn(async move {
                    let _ =
                        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000000000\r\n\r\n").await;
                    while stream.write_all(&[b'x'; 8192]).await.is_ok() {}
                });
            }
        });
        bed.put("settings.yaml", &settings(&[("timeout-client", "300ms")]));
        let open = std::sync::Mutex::new(Vec::new());
        until("an end of a response that nobody reads", || async {
            let mut stream = TcpStream::connect(bed.http()).await.map_err(|e| e.to_string())?;
            let request = b"GET /endless HTTP/1.1\r\nHost: endless.test\r\n\r\n";
            stream.write_all(request).await.map_err(|e| e.to_string())?;
            open.lock().unwrap().push(stream);
            let log = bed.log();
            let ended = log.lines().any(|line| line.contains("GET /endless ") && line.contains(" cD-"));
            if ended { Ok(()) } else { Err(bed.log_tail()) }
        })
        .await;
        drop(open);

        // A connection without a second request. The default would be a minute.
        bed.put("settings.yaml", &settings(&[("timeout-http-keep-alive", "300ms")]));
        until("an end of an idle connection", || async {
            let mut stream = TcpStream::connect(bed.http()).await.map_err(|e| e.to_string())?;
            stream.write_all(b"GET / HTTP/1.1\r\nHost: app.test\r\n\r\n").await.map_err(|e| e.to_string())?;
            response(&mut stream).await?;
            let end = tokio::time::timeout(Duration::from_secs(20), stream.read(&mut [0; 1])).await;
            end.map(|_| ()).map_err(|_| "still open".to_owned())
        })
        .await;
        bed.proves(&["timeout-http-request", "timeout-client", "timeout-http-keep-alive"]);
    }
);

on_every_branch!(
    servers_are_not_waited_for,
    ["--configmap=default/settings", "--reload-interval=10ms"],
    |bed| async move {
        // A socket whose queue is full: connections to it neither succeed nor fail.
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let full = socket.listen(1).unwrap();
        let address = full.local_addr().unwrap();
        let mut queue = Vec::new();
        while let Ok(stream) =
            tokio::time::timeout(Duration::from_millis(300), TcpStream::connect(address)).await
        {
            queue.push(stream.unwrap());
        }
        let echo = Echo::start("echo").await;
        bed.put("full.yaml", &application("full", address));
        bed.put("app.yaml", &application("app", echo.address));
        bed.put("settings.yaml", &settings(&[("timeout-connect", "200ms"), ("timeout-queue", "300ms")]));
        bed.until_name("app.test", "/", "echo").await;
        // Four attempts of 5 s by default, with a pause between them.
        until("503 for a pod that does not answer", || async {
            let begin = std::time::Instant::now();
            let answer = until_closed(bed.http(), b"GET / HTTP/1.0\r\nHost: full.test\r\n\r\n").await?;
            if answer.contains(" 503 ") && begin.elapsed() < Duration::from_secs(10) {
                Ok(())
            } else {
                Err(answer)
            }
        })
        .await;

        // One request at a time at the pod; the second may wait for 300 ms.
        bed.until_settled().await;
        let stat = bed.master("@1 show stat").unwrap();
        let row = stat
            .lines()
            .find(|line| line.contains(&echo.address.to_string()) || line.contains("_app_80,s1,"));
        let row: Vec<&str> = row.unwrap_or_else(|| panic!("{stat}")).split(',').collect();
        let limit = bed.master(&format!("@1 set maxconn server {}/{} 1", row[0], row[1])).unwrap();
        assert_eq!(limit.trim(), "");
        let mut first = TcpStream::connect(bed.http()).await.unwrap();
        first.write_all(b"GET /wait HTTP/1.1\r\nHost: app.test\r\n\r\n").await.unwrap();
        until("a request at the pod", || async {
            if echo.waiting() == 1 { Ok(()) } else { Err("none".to_owned()) }
        })
        .await;
        let answer = until_closed(bed.http(), b"GET / HTTP/1.0\r\nHost: app.test\r\n\r\n").await.unwrap();
        assert!(answer.contains(" 503 "), "{answer}");
        bed.until_logged(&["app", "sQ"]).await;
        echo.release(1);
        bed.proves(&["timeout-connect", "timeout-queue"]);
    }
);
