//! Where log lines go, and what they look like.

use std::collections::BTreeSet;
use std::net::UdpSocket;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::{settings, until_closed};
use crate::support::manifests::application;
use crate::support::{Bed, Branch, Echo, until};

/// A syslog server that takes everything.
struct Syslog(UdpSocket);

impl Syslog {
    fn start() -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.set_nonblocking(true).unwrap();
        Self(socket)
    }

    fn port(&self) -> u16 {
        self.0.local_addr().unwrap().port()
    }

    /// Asks for this path until a line with all of these texts comes.
    async fn until_line(&self, bed: &Bed, path: &str, texts: &[&str]) -> String {
        until(&format!("a line with {texts:?}"), || async {
            bed.get("app.test", path).await;
            let mut seen = String::new();
            let mut bytes = vec![0; 65536];
            while let Ok(length) = self.0.recv(&mut bytes) {
                let line = String::from_utf8_lossy(&bytes[..length]).into_owned();
                if texts.iter().all(|text| line.contains(text)) {
                    return Ok(line);
                }
                seen.push_str(&line);
            }
            Err(seen)
        })
        .await
    }
}

on_every_branch!(
    log_lines_go_where_they_shall,
    ["--configmap=default/settings", "--reload-interval=10ms"],
    |bed| async move {
        let echo = Echo::start("echo").await;
        bed.put("app.yaml", &application("app", echo.address));
        bed.until_name("app.test", "/default", "echo").await;
        bed.until_logged(&["GET /default HTTP/1.1", "http "]).await;

        let (one, two) = (Syslog::start(), Syslog::start());
        let targets = format!(
            "address:127.0.0.1, port:{}, format:rfc5424, facility:local3, level:info\naddress: 127.0.0.1,port: {},format:rfc3164,facility:daemon,level:debug,minlevel:debug\naddress:stdout, format:raw, facility:local0\n",
            one.port(),
            two.port()
        );
        bed.put("settings.yaml", &settings(&[("syslog-server", &targets), ("syslog-tag", "edge-1")]));
        // <158> is local3.info.
        let line = one.until_line(&bed, "/one", &["GET /one HTTP/1.1", "edge-1"]).await;
        assert!(line.starts_with("<158>1 "), "{line}");
        // <31> is daemon.debug: not more important than that.
        let line = two.until_line(&bed, "/two", &["GET /two HTTP/1.1"]).await;
        assert!(line.starts_with("<31>") && line.contains("edge-1["), "{line}");
        bed.until_logged(&["GET /two HTTP/1.1"]).await;

        // One target in the other spelling. A mistake: the default target stays.
        let endpoint = format!("127.0.0.1:{}", one.port());
        bed.put("settings.yaml", &settings(&[("syslog-endpoint", &endpoint), ("syslog-length", "100")]));
        let line = one.until_line(&bed, &format!("/{}", "x".repeat(300)), &["<134>1 "]).await;
        assert!(line.len() <= 101, "{line}");
        for (format, begins) in [
            ("short", "<6>"),
            ("raw", "127.0.0.1:"),
            ("priority", "<134>"),
            ("timed", "<6>20"),
            ("iso", "<134>1 20"),
            ("local", "<134>"),
        ] {
            bed.put("settings.yaml", &settings(&[("syslog-endpoint", &endpoint), ("syslog-format", format)]));
            // 2.2 has the older ones only.
            let begins = match format {
                "priority" | "timed" if bed.branch < Branch(2, 3) => "<6>",
                "iso" if bed.branch >= Branch(2, 3) => "20",
                "timed" => "20",
                _ => begins,
            };
            until(&format!("format {format}"), || async {
                let line = one.until_line(&bed, &format!("/{format}"), &[&format!("GET /{format} ")]).await;
                if line.contains(begins) { Ok(()) } else { Err(line) }
            })
            .await;
        }
        bed.put("settings.yaml", &settings(&[("syslog-server", "address:syslog.infra, port:514")]));
        bed.until_logged(&["value-invalid", "syslog-server", "`syslog.infra`"]).await;
        until("the default target", || async {
            bed.get("app.test", "/again").await;
            if bed.log().contains("GET /again HTTP/1.1") { Ok(()) } else { Err("nothing".to_owned()) }
        })
        .await;
        bed.proves(&["syslog-server", "syslog-endpoint", "syslog-format", "syslog-length", "syslog-tag"]);
    }
);

on_every_branch!(
    log_lines_look_as_they_shall,
    ["--configmap=default/settings", "--reload-interval=10ms"],
    |bed| async move {
        let echo = Echo::start("echo").await;
        bed.put("app.yaml", &application("app", echo.address));
        bed.until_name("app.test", "/", "echo").await;
        let format = "mine '%HM' \"%HPO\" $HOME \\ # %% %ST %{+Q}[var(txn.host),upper] %[src,ipmask(8)] %b";
        bed.put("settings.yaml", &settings(&[("log-format", format)]));
        until("the own format", || async {
            bed.get("app.test", "/path?query").await;
            // On 2.2 it is `%HP`, which is the same here.
            let text = "mine 'GET' \"/path\" $HOME \\ # % 200 \"APP.TEST\" 127.0.0.0 ";
            if bed.log().contains(text) { Ok(()) } else { Err(bed.log_tail()) }
        })
        .await;
        // What HAProxy would refuse the configuration for never gets there.
        bed.put("settings.yaml", &settings(&[("log-format", "%ci %unknown"), ("timeout-queue", "4s")]));
        bed.until_logged(&["value-invalid", "log-format", "`%unknown` is no variable"]).await;
        until("the default format", || async {
            bed.get("app.test", "/after").await;
            if bed.log().contains("GET /after HTTP/1.1") { Ok(()) } else { Err("nothing".to_owned()) }
        })
        .await;
        assert!(!bed.log().contains("configuration-refused"), "{}", bed.log_tail());
        bed.proves(&["log-format"]);
    }
);

/// The JSON objects among the log lines.
fn objects(bed: &Bed) -> Vec<serde_json::Value> {
    let log = std::fs::read(bed.path("log")).unwrap();
    // The controller that started HAProxy puts a time of its own before its lines.
    let begin = b"{\"time\"";
    let at = |line: &[u8]| line.windows(begin.len()).position(|window| window == begin);
    let lines = log.split(|b| *b == b'\n').filter_map(|line| Some(&line[at(line)?..]));
    lines
        .map(|line| {
            serde_json::from_slice(line).unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(line)))
        })
        .collect()
}

on_every_branch!(
    every_json_line_is_an_object,
    ["--configmap=default/settings", "--reload-interval=10ms"],
    |bed| async move {
        let echo = Echo::start("echo").await;
        bed.put("app.yaml", &application("app", echo.address));
        bed.until_name("app.test", "/", "echo").await;
        bed.put("settings.yaml", &settings(&[("log-format", "json")]));
        until("a JSON line", || async {
            bed.get("app.test", "/first?a=b").await;
            if objects(&bed).iter().any(|line| line["uri"] == "/first?a=b") {
                Ok(())
            } else {
                Err("none".to_owned())
            }
        })
        .await;
        let line = objects(&bed).into_iter().find(|line| line["uri"] == "/first?a=b").unwrap();
        for (name, value) in
            [("method", "GET"), ("host", "app.test"), ("frontend", "http"), ("client", "127.0.0.1")]
        {
            assert_eq!(line[name], value, "{line}");
        }
        assert!(
            line["status"] == 200 && line["time_active"].is_number() && line["bytes_sent"].is_number(),
            "{line}"
        );
        let hostile: &[&[u8]] = &[
            b"GET /\"quote\" HTTP/1.1\r\nHost: app.test\r\nUser-Agent: \"},{\"x\":\"y\\\r\nConnection: close\r\n\r\n",
            b"GET /back\\slash HTTP/1.1\r\nHost: app.test\r\nUser-Agent: a\tb\\u0000 \xff\xfe\xc3\xa4 end\r\nConnection: close\r\n\r\n",
            b"GET /%22%0a%7d HTTP/1.1\r\nHost: \"evil\\\" HTTP/1.1\r\nReferer: ]}\"%[x]\r\nConnection: close\r\n\r\n",
            b"G\"ET /method HTTP/1.1\r\nHost: app.test\r\nConnection: close\r\n\r\n",
            b"GET /no-version\r\n\r\n",
            b"\x16\x03\x01\x02\x00\x01\xff\xff\"\\\r\n\r\n",
            b"GET / HTTP/9.\"\r\n\r\n",
            b"GET / HTTP/1.0\r\n\r\n",
            b"GET /utf8/\xc3\xa4\xff HTTP/1.1\r\nHost: app.test\r\nConnection: close\r\n\r\n",
        ];
        for request in hostile {
            let _ = until_closed(bed.http(), request).await;
        }
        // Everything as long as can be, all of it escaped.
        let long = "\u{1}\"\\".replace('\u{1}', "\t").repeat(1500);
        let path = "\"\\".repeat(1500);
        let request = format!(
            "GET /long{path} HTTP/1.1\r\nHost: app.test\r\nUser-Agent: x{long}\r\nReferer: x{long}\r\nConnection: close\r\n\r\n"
        );
        until_closed(bed.http(), request.as_bytes()).await.unwrap();
        until("all lines", || async {
            let uris: BTreeSet<String> =
                objects(&bed).iter().filter_map(|line| line["uri"].as_str().map(str::to_owned)).collect();
            let there = |text: &str| uris.iter().any(|uri| uri.contains(text));
            if there("/long\"\\") && there("back\\slash") && there("/\"quote\"") {
                Ok(())
            } else {
                Err(format!("{uris:?}"))
            }
        })
        .await;
        let all = objects(&bed);
        assert!(all.iter().any(|line| line["user_agent"] == "\"},{\"x\":\"y\\"), "{all:?}");
        bed.proves(&["log-format"]);
    }
);

on_every_branch!(
    lines_come_early_and_silent_connections_leave_none,
    ["--configmap=default/settings", "--reload-interval=10ms"],
    |bed| async move {
        // A pod that sends its headers and only half of its body.
        let pod = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = pod.local_addr().unwrap();
        tokio::spawn(async move {
            let mut kept = Vec::new();
            while let Ok((mut stream, _)) = pod.accept().await {
                let _ = stream.read(&mut [0; 4096]).await;
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf.").await;
                kept.push(stream);
            }
        });
        bed.put("app.yaml", &application("app", address));
        bed.put(
            "settings.yaml",
            &settings(&[("logasap", "true"), ("dontlognull", "false"), ("log-format", "json")]),
        );
        let open = std::sync::Mutex::new(Vec::new());
        let line = until("a line before the end", || async {
            let attempt = open.lock().unwrap().len();
            let mut stream = TcpStream::connect(bed.http()).await.map_err(|e| e.to_string())?;
            let request = format!("GET /early/{attempt} HTTP/1.1\r\nHost: app.test\r\n\r\n");
            stream.write_all(request.as_bytes()).await.map_err(|e| e.to_string())?;
            let read = tokio::time::timeout(Duration::from_secs(20), stream.read(&mut [0; 4096])).await;
            read.map_err(|e| e.to_string())?.map_err(|e| e.to_string())?;
            open.lock().unwrap().push(stream);
            let early = |line: &serde_json::Value| {
                line["status"] == 200 && line["uri"].as_str().is_some_and(|uri| uri.starts_with("/early/"))
            };
            objects(&bed).into_iter().find(early).ok_or_else(|| bed.log_tail())
        })
        .await;
        assert!(line["bytes_sent"].as_str().is_some_and(|bytes| bytes.starts_with('+')), "{line}");
        // Nobody said a word, and it is logged.
        until("a line about a silent connection", || async {
            drop(TcpStream::connect(bed.http()).await.map_err(|e| e.to_string())?);
            if objects(&bed).iter().any(|line| line["status"] == 0 || line["status"] == 400) {
                Ok(())
            } else {
                Err(bed.log_tail())
            }
        })
        .await;
        bed.put("settings.yaml", &settings(&[("log-format", "%ci silence-%ST")]));
        until("the other format", || async {
            let _ = until_closed(bed.http(), b"GET / HTTP/1.0\r\n\r\n").await?;
            if bed.log().contains("silence-404") { Ok(()) } else { Err(bed.log_tail()) }
        })
        .await;
        drop(TcpStream::connect(bed.http()).await.unwrap());
        let _ = until_closed(bed.http(), b"GET / HTTP/1.0\r\n\r\n").await;
        until("a line about what came after it", || async {
            if bed.log().matches("silence-404").count() >= 2 { Ok(()) } else { Err(bed.log_tail()) }
        })
        .await;
        let log = bed.log();
        assert!(!log.contains("silence-0") && !log.contains("silence-400"), "{}", bed.log_tail());
        bed.proves(&["logasap", "dontlognull"]);
    }
);
