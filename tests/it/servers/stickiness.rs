//! A client stays with its pod.

use super::app;
use crate::support::bed::Bed;
use crate::support::client::{Answer, exchange};
use crate::support::{Branch, Echo, until};

/// `GET /` with a header line of its own, empty for none.
pub(super) async fn get_with(bed: &Bed, host: &str, header: &str) -> Answer {
    bed.until_alone().await;
    let header = if header.is_empty() { String::new() } else { format!("{header}\r\n") };
    let request = format!("GET / HTTP/1.1\r\nHost: {host}\r\n{header}Connection: close\r\n\r\n");
    exchange(tokio::net::TcpStream::connect(bed.http()).await.unwrap(), &request).await.unwrap()
}

/// The value of the cookie `pod` that comes when this pod answers.
async fn cookie_of(bed: &Bed, host: &str, pod: &str) -> String {
    until(&format!("a cookie for {pod}"), || async {
        let answer = get_with(bed, host, "").await;
        let cookie =
            answer.header("set-cookie").and_then(|text| text.strip_prefix("pod=")?.split(';').next());
        match cookie {
            Some(value) if answer.name() == pod && !value.is_empty() => Ok(value.to_owned()),
            _ => Err(format!("{answer:?}")),
        }
    })
    .await
}

on_every_branch!(a_cookie_leads_to_the_same_pod_on_every_replica, |bed| async move {
    let (one, two, three) = (Echo::start("one").await, Echo::start("two").await, Echo::start("three").await);
    let replica = Bed::start(bed.branch, &[]).await;
    let key = "haproxy.org/cookie-persistence: pod";
    // In another order, one after the other: the history of a replica does not matter.
    replica.put("app.yaml", &app("app", key, &[two.address]));
    replica.until_name("app.test", "/", "two").await;
    for bed in [&*bed, &replica] {
        bed.put("app.yaml", &app("app", key, &[one.address, two.address]));
        bed.until_name("app.test", "/", "one").await;
    }
    let mut values = Vec::new();
    for pod in ["one", "two"] {
        let value = cookie_of(&bed, "app.test", pod).await;
        assert_eq!(value, cookie_of(&replica, "app.test", pod).await);
        for bed in [&*bed, &replica] {
            for _ in 0..6 {
                let answer = get_with(bed, "app.test", &format!("Cookie: pod={value}")).await;
                assert_eq!((answer.name(), answer.header("set-cookie")), (pod, None));
                assert!(!answer.body.contains("cookie"), "the pod does not see it: {}", answer.body);
            }
        }
        values.push(value);
    }
    // A pod that comes later has its cookie, and those of the others stay.
    let worker = bed.worker().await;
    bed.put("app.yaml", &app("app", key, &[one.address, two.address, three.address]));
    let third = cookie_of(&bed, "app.test", "three").await;
    assert!(!values.contains(&third));
    for (pod, value) in [("one", &values[0]), ("two", &values[1]), ("three", &third)] {
        for _ in 0..4 {
            assert_eq!(get_with(&bed, "app.test", &format!("Cookie: pod={value}")).await.name(), pod);
        }
    }
    // One that is gone: another takes over.
    bed.put("app.yaml", &app("app", key, &[two.address, three.address]));
    until("another pod", || async {
        let answer = get_with(&bed, "app.test", &format!("Cookie: pod={}", values[0])).await;
        if answer.status == 200 && answer.name() != "one" { Ok(()) } else { Err(format!("{answer:?}")) }
    })
    .await;
    assert_eq!(bed.worker().await, worker, "no reload was needed");
    replica.check_after_test().await;
    bed.proves(&["cookie-persistence"]);
});

on_every_branch!(a_cookie_with_the_name_of_the_server, |bed| async move {
    let (one, two) = (Echo::start("one").await, Echo::start("two").await);
    let key = "haproxy.org/cookie-persistence-no-dynamic: pod";
    bed.put("app.yaml", &app("app", key, &[one.address]));
    bed.until_name("app.test", "/", "one").await;
    let worker = bed.worker().await;
    bed.put("app.yaml", &app("app", key, &[one.address, two.address]));
    bed.until_name("app.test", "/", "two").await;
    for (pod, echo) in [("one", &one), ("two", &two)] {
        assert_eq!(cookie_of(&bed, "app.test", pod).await, echo.address.to_string());
        for _ in 0..4 {
            let header = format!("Cookie: pod={}", echo.address);
            assert_eq!(get_with(&bed, "app.test", &header).await.name(), pod);
        }
    }
    assert_eq!(bed.worker().await == worker, bed.branch >= Branch(3, 0), "a reload before 3.0");
    bed.put("app.yaml", &app("app", key, &[two.address]));
    until("the other pod", || async {
        let answer = get_with(&bed, "app.test", &format!("Cookie: pod={}", one.address)).await;
        if answer.name() == "two" { Ok(()) } else { Err(format!("{answer:?}")) }
    })
    .await;
    bed.proves(&["cookie-persistence-no-dynamic"]);
});
