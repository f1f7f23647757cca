use std::path::Path;
use std::time::Duration;

use super::*;
use crate::haproxy::Master;
use crate::haproxy::testing::{BRANCHES, Haproxy, binary, eventually, soon};

/// The folders of a HAProxy that is stopped, and the program that starts it again.
fn program(branch: &'static str) -> (Haproxy, Program) {
    let haproxy = Haproxy::start(branch);
    let socket = haproxy.folder().join("supervised.sock");
    let config = haproxy.folder().join("supervised");
    std::fs::create_dir(&config).unwrap();
    let text =
        haproxy.good_config("").replace("http.sock", "http2.sock").replace("https.sock", "https2.sock");
    std::fs::write(config.join("haproxy.cfg"), text).unwrap();
    let program = Program { program: binary(branch), master_socket: socket, config };
    (haproxy, program)
}

fn alive(pid: u32) -> bool {
    Path::new(&format!("/proc/{pid}")).exists()
}

#[tokio::test]
async fn it_is_started_again_when_it_dies_and_stopped_in_order() {
    for branch in BRANCHES {
        let (_haproxy, program) = program(branch);
        let master = Master::connect(&program.master_socket);
        let supervisor = Supervisor::start(program).await.unwrap();
        let first = master.wait_until_ready(soon()).await.unwrap().processes;
        assert_eq!(*supervisor.pid().borrow(), Some(first.master.pid), "{branch}");
        let pid = i32::try_from(first.master.pid).ok().and_then(Pid::from_raw).unwrap();
        kill_process(pid, Signal::KILL).unwrap();
        let mut pids = supervisor.pid();
        let again = pids.wait_for(|pid| pid.is_some_and(|pid| pid != first.master.pid));
        let again = tokio::time::timeout_at(soon(), again).await.unwrap().unwrap().unwrap();
        let ready = master.wait_until_ready(soon()).await.unwrap();
        assert_eq!(ready.processes.master.pid, again, "{branch}");
        let begin = Instant::now();
        supervisor.stop(Duration::from_secs(10)).await;
        assert!(begin.elapsed() < Duration::from_secs(8), "{branch}: nothing was left to finish");
        eventually("the end of all processes", || async { !alive(again) && !alive(ready.info.pid) }).await;
    }
}

#[tokio::test]
async fn a_request_may_finish_before_the_stop() {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    for branch in BRANCHES {
        let (haproxy, program) = program(branch);
        let master = Master::connect(&program.master_socket);
        let supervisor = Supervisor::start(program).await.unwrap();
        let ready = master.wait_until_ready(soon()).await.unwrap();
        let mut socket = UnixStream::connect(haproxy.volumes.run.join("http2.sock")).await.unwrap();
        socket.write_all(b"GET / HTTP/1.1\r\n").await.unwrap();
        eventually("the request is seen", || async {
            master.info(soon()).await.unwrap().values["CurrConns"] != "0"
        })
        .await;
        let stop = tokio::spawn(supervisor.stop(Duration::from_secs(15)));
        eventually("the soft stop", || async {
            master
                .send(
                    crate::haproxy::Request::worker("show info"),
                    Instant::now() + Duration::from_millis(100),
                )
                .await
                .map_or(true, |answer| answer.text.contains("Stopping: 1"))
        })
        .await;
        socket.write_all(b"Host: a\r\n\r\n").await.unwrap();
        let mut answer = String::new();
        socket.read_to_string(&mut answer).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 503"), "{branch}: {answer:?}");
        stop.await.unwrap();
        assert!(!alive(ready.processes.master.pid), "{branch}");
    }
}

#[tokio::test]
async fn a_request_that_never_ends_does_not_hold_the_stop() {
    use tokio::io::AsyncWriteExt as _;
    for branch in BRANCHES {
        let (haproxy, program) = program(branch);
        let master = Master::connect(&program.master_socket);
        let supervisor = Supervisor::start(program).await.unwrap();
        master.wait_until_ready(soon()).await.unwrap();
        let mut socket = UnixStream::connect(haproxy.volumes.run.join("http2.sock")).await.unwrap();
        socket.write_all(b"GET / HTTP/1.1\r\n").await.unwrap();
        let begin = Instant::now();
        supervisor.stop(Duration::from_millis(200)).await;
        assert!(begin.elapsed() < Duration::from_secs(5), "{branch}");
    }
}

#[tokio::test]
async fn a_missing_program_is_an_error_at_once() {
    let program =
        Program { program: "/nonexistent/haproxy".into(), master_socket: "/x".into(), config: "/x".into() };
    assert_eq!(Supervisor::start(program).await.unwrap_err().kind(), io::ErrorKind::NotFound);
}

#[tokio::test]
async fn one_that_was_left_behind_makes_room() {
    for branch in BRANCHES {
        let (mut left, mut program) = program(branch);
        let master = left.master().await;
        let old = master.processes(soon()).await.unwrap().master.pid;
        program.master_socket = left.volumes.master_socket();
        let supervisor = Supervisor::start(program).await.unwrap();
        left.ended().await;
        let ready = master.wait_until_ready(soon()).await.unwrap();
        assert_ne!(ready.processes.master.pid, old, "{branch}");
        assert_eq!(*supervisor.pid().borrow(), Some(ready.processes.master.pid), "{branch}");
        supervisor.stop(Duration::from_secs(5)).await;
    }
}

#[test]
fn routine_warnings_are_told_from_others() {
    assert!(is_routine("[WARNING]  (1) : Proxy http stopped (cumulated conns: FE: 6, BE: 0)."));
    assert!(is_routine(
        "[WARNING]  (1) : Server a_b_80/10.0.0.1:80 is UP/READY (leaving forced maintenance)."
    ));
    assert!(is_routine("[WARNING]  (1) : Server a_b_80/10.0.0.1:80 is going DOWN for maintenance. 1 active"));
    assert!(!is_routine("[WARNING]  (1) : config : missing timeouts for backend 'x'."));
}
