//! HAProxy as a process.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::settings;
use crate::support::manifests::application;
use crate::support::{Bed, Branch, Echo, until};

/// Waits until `show info` of the worker that serves has this line.
async fn until_info(bed: &Bed, line: &str) {
    until(line, || async {
        let info = bed.master("@1 show info")?;
        if info.lines().any(|l| l.trim() == line) { Ok(()) } else { Err(info) }
    })
    .await;
}

on_every_branch!(
    limits_of_the_process_and_of_old_workers,
    ["--configmap=default/settings", "--reload-interval=10ms"],
    |bed| async move {
        let echo = Echo::start("echo").await;
        bed.put("app.yaml", &application("app", echo.address));
        bed.put(
            "settings.yaml",
            &settings(&[("maxconn", "7"), ("nbthread", "2"), ("hard-stop-after", "1s")]),
        );
        until_info(&bed, "Maxconn: 7").await;
        until_info(&bed, "Nbthread: 2").await;
        bed.until_name("app.test", "/", "echo").await;

        // The seven wait at the pod; the eighth waits in the kernel until one of them is done.
        let mut waiting = Vec::new();
        for _ in 0..7 {
            let mut stream = TcpStream::connect(bed.http()).await.unwrap();
            stream
                .write_all(b"GET /wait HTTP/1.1\r\nHost: app.test\r\nConnection: close\r\n\r\n")
                .await
                .unwrap();
            waiting.push(stream);
        }
        until("seven requests at the pod", || async {
            if echo.waiting() == 7 { Ok(()) } else { Err(echo.waiting().to_string()) }
        })
        .await;
        let mut eighth = TcpStream::connect(bed.http()).await.unwrap();
        eighth.write_all(b"GET /wait HTTP/1.1\r\nHost: app.test\r\nConnection: close\r\n\r\n").await.unwrap();
        echo.release(1);
        until("the eighth at the pod", || async {
            if echo.waiting() == 7 { Ok(()) } else { Err(echo.waiting().to_string()) }
        })
        .await;
        waiting.push(eighth);
        let info = bed.master("@1 show info").unwrap();
        let peak = info.lines().find_map(|line| line.strip_prefix("CumConns: ")).unwrap().to_owned();
        assert!(peak.trim().parse::<u32>().unwrap() >= 7, "{info}");

        // The old worker is stopped with its requests, long before they would have ended.
        bed.put("settings.yaml", &settings(&[("maxconn", "70"), ("hard-stop-after", "1s")]));
        until_info(&bed, "Maxconn: 70").await;
        for mut stream in waiting.drain(1..) {
            let mut answer = Vec::new();
            let _ = stream.read_to_end(&mut answer).await;
        }
        assert_eq!(bed.until_name("app.test", "/", "echo").await.status, 200);

        // What cannot be is a Problem, and what runs stays.
        bed.put(
            "settings.yaml",
            &settings(&[("maxconn", "70"), ("nbthread", "0"), ("hard-stop-after", "30")]),
        );
        bed.until_logged(&["value-invalid", "nbthread", "a number from 1 to 64"]).await;
        bed.until_logged(&["value-invalid", "hard-stop-after", "a number needs a unit"]).await;
        until_info(&bed, "Maxconn: 70").await;
        bed.proves(&["maxconn", "nbthread", "hard-stop-after"]);
    }
);
