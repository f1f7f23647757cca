//! Ports and endpoints of HAProxy and of the controller.

use crate::support::client::get;
use crate::support::{Bed, Branch, until};

on_every_branch!(health_statistics_and_the_controllers_own_ports_answer, |bed| async move {
    let at = |port| bed.address(port);
    let status = async |port, path| get(at(port), "x", path).await.unwrap().status;
    assert_eq!(status(bed.ports.healthz, "/healthz").await, 200);
    assert_eq!(status(bed.ports.healthz, "/readyz").await, 200);
    assert_eq!(status(bed.ports.healthz, "/other").await, 404);
    let metrics = get(at(bed.ports.stats), "x", "/metrics").await.unwrap();
    assert!(metrics.body.contains("haproxy_process_"), "{}", metrics.body);
    let page = get(at(bed.ports.stats), "x", "/").await.unwrap();
    assert!(page.status == 200 && page.body.contains("Statistics Report"), "{}", page.status);
    assert_eq!(status(bed.ports.controller, "/livez").await, 200);
    let answer = get(at(bed.ports.default_backend), "x", "/anything").await.unwrap();
    assert_eq!((answer.status, answer.body.as_str()), (404, "default backend - 404"));
    assert_eq!(status(bed.ports.default_backend, "/healthz").await, 200);
});

on_every_branch!(listeners_can_be_turned_off, ["--disable-https", "--disable-ipv6"], |bed| async move {
    assert_eq!(bed.get("x.test", "/").await.status, 404);
    assert!(tokio::net::TcpStream::connect(bed.https()).await.is_err());
    let six = std::net::SocketAddr::from((std::net::Ipv6Addr::LOCALHOST, bed.ports.http));
    assert!(tokio::net::TcpStream::connect(six).await.is_err());
});

on_every_branch!(both_families_listen_where_the_machine_has_them, |bed| async move {
    let six = std::net::SocketAddr::from((std::net::Ipv6Addr::LOCALHOST, bed.ports.http));
    if std::net::TcpListener::bind((std::net::Ipv6Addr::LOCALHOST, 0)).is_ok() {
        assert_eq!(get(six, "x", "/").await.unwrap().status, 404);
    } else {
        assert!(tokio::net::TcpStream::connect(six).await.is_err());
    }
    assert_eq!(bed.get("x", "/").await.status, 404);
});

/// A port that another process holds is a Problem before any reload; when it becomes free it is used.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_taken_port_is_a_problem_before_any_reload() {
    let other = std::net::TcpListener::bind(("0.0.0.0", 0)).unwrap();
    let port = other.local_addr().unwrap().port();
    let bed = Bed::start_unready(Branch(3, 2), &[&format!("--http-bind-port={port}")]);
    bed.until_logged(&["port-unavailable", &port.to_string()]).await;
    let (_, _, reloads) = bed.processes().await;
    assert_eq!(reloads, 0, "no reload was tried");
    drop(other);
    until("the port to be used", || async { get(bed.address(port), "x", "/").await.map(|_| ()) }).await;
    bed.until_ready().await;
    bed.check_after_test().await;
}
