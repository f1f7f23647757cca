//! `--pprof`: what `go tool pprof` makes of the controller's profiles, and that they are off, single and short-lived.

use std::io::Write;
use std::net::{SocketAddr, TcpStream};
use std::process::Stdio;

use crate::support::client::{Call, get};
use crate::support::manifests::{application, ingress};
use crate::support::{Bed, Branch, until};

/// What `go tool pprof` prints about a profile.
async fn pprof(bed: &Bed, arguments: &[&str], page: &str) -> String {
    let url = format!("http://{}/debug/pprof/{page}", controller(bed));
    let output = tokio::process::Command::new("go")
        .args(["tool", "pprof"])
        .args(arguments)
        .arg(&url)
        .env("PPROF_TMPDIR", bed.path("pprof"))
        .env("GOTOOLCHAIN", "local")
        .stdin(Stdio::null())
        .output()
        .await
        .unwrap();
    let (printed, errors) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{url}: {errors}");
    printed.into_owned()
}

fn controller(bed: &Bed) -> SocketAddr {
    bed.address(bed.ports.controller)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn go_reads_both_profiles_with_the_names_of_our_functions() {
    let bed = Bed::start(Branch(3, 2), &["--pprof", "--prometheus"]).await;
    bed.put("app.yaml", &application("app", (std::net::Ipv4Addr::LOCALHOST, 9).into()));
    // Something to do while it is watched: changes of routes, and scrapes.
    let work = async {
        for round in 0_u32.. {
            bed.put("busy.yaml", &ingress("busy", &[(&format!("busy{round}.test"), "Prefix", "/", "app")]));
            get(controller(&bed), "x", "/metrics").await.unwrap();
        }
    };
    let cpu = tokio::select! {
        cpu = pprof(&bed, &["-top", "-cum", "-nodecount=500"], "profile?seconds=3") => cpu,
        () = work => String::new(),
    };
    assert!(cpu.contains("Type: cpu"), "{cpu}");
    assert!(cpu.contains("outrigger::cli::main") && cpu.contains("outrigger::metrics::"), "{cpu}");
    assert!(cpu.contains("hyper::"), "other crates are named, too: {cpu}");

    let heap = pprof(&bed, &["-top", "-cum", "-nodecount=500"], "heap").await;
    assert!(heap.contains("Type: inuse_space"), "{heap}");
    assert!(heap.contains("outrigger::"), "{heap}");
    let ever = pprof(&bed, &["-top", "-cum", "-nodecount=500", "-sample_index=alloc_space"], "heap").await;
    assert!(ever.contains("outrigger::metrics::"), "scrapes allocate, and give it back: {ever}");

    // An address and its name, as pprof asks for them when a profile has none.
    let raw = pprof(&bed, &["-raw"], "heap").await;
    let location = raw.lines().find(|line| line.contains(" M=") && line.contains(" outrigger::"));
    let location = location.unwrap_or_else(|| panic!("{raw}"));
    let address = location.split_whitespace().nth(1).unwrap();
    let names = Call { method: "POST", host: "x", path: "/debug/pprof/symbol", ..Call::default() };
    let headers = format!("Content-Length: {}\r\n", address.len());
    let names = Call { headers: &headers, body: address, ..names }.send(controller(&bed)).await.unwrap();
    assert!(names.body.contains(&format!("{address} outrigger::")), "{location}\n{}", names.body);
    bed.check_after_test().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_cpu_profile_at_a_time_and_a_cancelled_one_stops() {
    let bed = Bed::start(Branch(3, 2), &["--pprof"]).await;
    let ask = |page: &'static str| get(controller(&bed), "x", page);
    let start = std::time::Instant::now();
    let mut first = TcpStream::connect(controller(&bed)).unwrap();
    first.write_all(b"GET /debug/pprof/profile?seconds=300 HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
    until("a second profile to be refused", || async {
        let second = ask("/debug/pprof/profile?seconds=1").await?;
        if second.status == 409 && second.body.contains("another CPU profile") {
            Ok(())
        } else {
            Err(second.body)
        }
    })
    .await;
    // Whatever runs, the rest of the port answers.
    assert_eq!(ask("/livez").await.unwrap().status, 200);
    assert_eq!(ask("/debug/pprof/heap").await.unwrap().status, 200);
    drop(first);
    until("a profile after the first was cancelled", || async {
        let third = ask("/debug/pprof/profile?seconds=1").await?;
        if third.status == 200 { Ok(()) } else { Err(third.body) }
    })
    .await;
    assert!(start.elapsed() < std::time::Duration::from_secs(100), "the first one was not waited for");
    for bad in ["0", "301", "x"] {
        let path = format!("/debug/pprof/profile?seconds={bad}");
        let answer = get(controller(&bed), "x", &path).await.unwrap();
        assert!(answer.status == 400 && answer.body.contains("1 to 300"), "{answer:?}");
    }
    let index = ask("/debug/pprof/").await.unwrap();
    assert!(index.status == 200 && index.body.contains("/debug/pprof/heap"), "{index:?}");
    let arguments = ask("/debug/pprof/cmdline").await.unwrap().body;
    assert!(arguments.split('\0').any(|argument| argument == "--pprof"), "{arguments}");
    assert_eq!(ask("/debug/pprof/symbol").await.unwrap().body, "num_symbols: 1\n");
    assert_eq!(ask("/debug/pprof/other").await.unwrap().status, 404);
    bed.check_after_test().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn profiles_are_off_unless_asked_for_and_the_status_page_says_so() {
    let bed = Bed::start(Branch(3, 2), &[]).await;
    for page in ["", "/", "/profile", "/heap", "/cmdline"] {
        let answer = get(controller(&bed), "x", &format!("/debug/pprof{page}")).await.unwrap();
        assert!(answer.status == 404 && answer.body.contains("--pprof"), "{answer:?}");
    }
    bed.put("wrong.yaml", &ingress("wrong", &[("foo.bar", "Prefix", "/", "missing")]));
    let page = until("the status page to say what is wrong", || async {
        let page = get(controller(&bed), "x", "/").await?;
        if page.body.contains("error service-not-found") { Ok(page.body) } else { Err(page.body) }
    })
    .await;
    assert!(page.contains(concat!("outrigger ", env!("CARGO_PKG_VERSION"))), "{page}");
    assert!(page.contains("successful, because of") && page.contains("leader:       no"), "{page}");
    let generation = page.lines().find_map(|line| line.strip_prefix("generation:")).unwrap().trim();
    let main = std::fs::read_to_string(bed.path("etc/haproxy.cfg")).unwrap();
    assert!(main.contains(&format!("outrigger-{generation}")), "{page}\n{main}");
    assert!(page.contains("/debug/pprof/ off"), "{page}");
    bed.check_after_test().await;
}
