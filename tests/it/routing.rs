//! Canaries, conditions, regular expressions, redirects, backends of one's own: what decides where a request goes beyond host
//! and path.

mod backends;
mod conditions;

use std::collections::BTreeMap;

use crate::support::client::{self, Answer};
use crate::support::manifests::{endpoints, ingress, ingress_with, service};
use crate::support::{Bed, Branch, Echo, until};

const SPECIFIC: &str = "ImplementationSpecific";

/// Services of these names with an echo server each.
async fn echoes(bed: &Bed, names: &[&str]) -> Vec<Echo> {
    let mut echoes = Vec::new();
    let mut text = String::new();
    for name in names {
        let echo = Echo::start(name).await;
        text += &(service(name) + &endpoints(name, &[echo.address]));
        echoes.push(echo);
    }
    bed.put("services.yaml", &text);
    echoes
}

/// A Service with an annotation.
fn service_with(name: &str, annotation: &str) -> String {
    service(name).replace(
        "  namespace: default\n",
        &format!("  namespace: default\n  annotations:\n    {annotation}\n"),
    )
}

/// `GET` with further header lines.
async fn get_with(bed: &Bed, host: &str, path: &str, headers: &str) -> Result<Answer, String> {
    bed.until_alone().await;
    let stream = tokio::net::TcpStream::connect(bed.http()).await.map_err(|e| e.to_string())?;
    let request = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n{headers}Connection: close\r\n\r\n");
    client::exchange(stream, &request).await
}

/// Who answers a request with these headers.
async fn name_with(bed: &Bed, host: &str, path: &str, headers: &str) -> String {
    let answer = get_with(bed, host, path, headers).await.unwrap_or_else(|e| panic!("{host}{path}: {e}"));
    if answer.status == 200 { answer.name().to_owned() } else { answer.status.to_string() }
}

/// Waits until this one answers a request with these headers.
async fn until_name_with(bed: &Bed, host: &str, path: &str, headers: &str, name: &str) {
    until(&format!("{name} to answer {host}{path} with {headers:?}"), || async {
        match name_with(bed, host, path, headers).await {
            found if found == name => Ok(()),
            found => Err(found),
        }
    })
    .await;
}

/// How many of so many requests each answered.
async fn shares(bed: &Bed, host: &str, requests: usize) -> BTreeMap<String, usize> {
    let mut shares = BTreeMap::new();
    for _ in 0..requests {
        *shares.entry(name_with(bed, host, "/", "").await).or_default() += 1;
    }
    shares
}

/// Waits until about this part (per cent) of 400 requests goes to the canary.
async fn until_share(bed: &Bed, host: &str, percent: usize) {
    until(&format!("{percent} % of {host} to reach the canary"), || async {
        let found = shares(bed, host, 400).await;
        let canary = found.get("canary").copied().unwrap_or(0);
        let others = found.get("main").copied().unwrap_or(0);
        // Of 400 draws the standard deviation is at most 10.
        let bounds = match percent {
            0 => 0..=0,
            100 => 400..=400,
            _ => (percent * 4).saturating_sub(60)..=percent * 4 + 60,
        };
        if bounds.contains(&canary) && canary + others == 400 { Ok(()) } else { Err(format!("{found:?}")) }
    })
    .await;
}

fn canary(annotations: &str, host: &str) -> String {
    let annotations = format!("haproxy.org/canary: \"true\"\n{annotations}");
    ingress_with("canary", "2020-01-01T00:00:00Z", &annotations, &[(host, "Prefix", "/", "canary")], "")
}

fn weight(weight: u32) -> String {
    format!("haproxy.org/canary-weight: \"{weight}\"")
}

on_every_branch!(a_canary_takes_its_part_live, |bed| async move {
    let _echoes = echoes(&bed, &["main", "canary"]).await;
    bed.put("canary.yaml", &canary(&weight(50), "shop.test"));
    bed.put("main.yaml", &ingress("main", &[("shop.test", "Prefix", "/", "main")]));
    until_share(&bed, "shop.test", 50).await;
    let worker = bed.worker().await;
    for percent in [0, 100, 50, 10, 0] {
        bed.put("canary.yaml", &canary(&weight(percent), "shop.test"));
        until_share(&bed, "shop.test", percent as usize).await;
    }
    // The same part of another total.
    let of_total = weight(300) + "\nhaproxy.org/canary-weight-total: \"1000\"";
    bed.put("canary.yaml", &canary(&of_total, "shop.test"));
    until_share(&bed, "shop.test", 30).await;
    assert_eq!(bed.worker().await, worker, "no reload was needed");
    assert!(!bed.log().contains("route-conflict"), "{}", bed.log_tail());

    // Without a main Ingress it gets nothing, and says so; the host is not known any more.
    bed.put("canary.yaml", &canary(&weight(100), "shop.test"));
    until_share(&bed, "shop.test", 100).await;
    bed.remove("main.yaml");
    bed.until_status("shop.test", "/", 404).await;
    bed.until_logged(&["canary-without-main", "default/canary", "shop.test/"]).await;
    bed.put("main.yaml", &ingress("main", &[("shop.test", "Prefix", "/", "main")]));
    until_share(&bed, "shop.test", 100).await;
    bed.remove("canary.yaml");
    until_share(&bed, "shop.test", 0).await;
    // A canary that is not a clear one takes nothing, although it is older.
    bed.put("canary.yaml", &canary(&weight(100), "shop.test").replace("\"true\"", "\"perhaps\""));
    bed.until_logged(&["value-invalid", "haproxy.org/canary", "perhaps"]).await;
    until_share(&bed, "shop.test", 0).await;
    bed.proves(&["canary", "canary-weight", "canary-weight-total"]);
});

on_every_branch!(headers_and_cookies_lead_to_a_canary_live, |bed| async move {
    let _echoes = echoes(&bed, &["main", "canary"]).await;
    bed.put("main.yaml", &ingress("main", &[("shop.test", "Prefix", "/", "main")]));
    let by = "haproxy.org/canary-by-header: X-Canary\nhaproxy.org/canary-by-cookie: canary\n";
    bed.put("canary.yaml", &canary(&format!("{by}{}", weight(0)), "shop.test"));
    until_name_with(&bed, "shop.test", "/a", "x-canary: always\r\n", "canary").await;
    bed.until_settled().await;
    let worker = bed.worker().await;
    let check = async |cases: &[(&str, &str)]| {
        for (headers, name) in cases {
            assert_eq!(name_with(&bed, "shop.test", "/a", headers).await, *name, "{headers}");
        }
    };
    check(&[
        ("", "main"),
        ("x-canary: never\r\n", "main"),
        ("x-canary: perhaps\r\n", "main"),
        ("x-canary: always\r\nx-canary: never\r\n", "canary"),
        ("Cookie: canary=always\r\n", "canary"),
        ("Cookie: a=b; canary=always; c=d\r\n", "canary"),
        ("Cookie: canary=never\r\n", "main"),
        ("Cookie: Canary=always\r\n", "main"),
        // The header comes first.
        ("x-canary: never\r\nCookie: canary=always\r\n", "main"),
        ("x-canary: always\r\nCookie: canary=never\r\n", "canary"),
        ("x-canary: other\r\nCookie: canary=always\r\n", "canary"),
        ("x-canary: always|x\r\n", "main"),
    ])
    .await;
    // They also keep a request away from it.
    bed.put("canary.yaml", &canary(&format!("{by}{}", weight(100)), "shop.test"));
    until_name_with(&bed, "shop.test", "/a", "", "canary").await;
    bed.until_settled().await;
    check(&[
        ("x-canary: perhaps\r\n", "canary"),
        ("x-canary: never\r\n", "main"),
        ("Cookie: canary=never\r\n", "main"),
    ])
    .await;
    // A value of one's own instead of the two words.
    let value = format!("{by}haproxy.org/canary-by-header-value: \"be,ta\"\n{}", weight(0));
    bed.put("canary.yaml", &canary(&value, "shop.test"));
    until_name_with(&bed, "shop.test", "/a", "", "main").await;
    until_name_with(&bed, "shop.test", "/a", "x-canary: be,ta\r\n", "canary").await;
    bed.until_settled().await;
    check(&[
        ("", "main"),
        ("x-canary: always\r\n", "main"),
        ("x-canary: never\r\nCookie: canary=always\r\n", "canary"),
    ])
    .await;
    assert_eq!(bed.worker().await, worker, "no reload was needed");
    // Others than this route never notice.
    bed.put("other.yaml", &ingress("other", &[("other.test", "Prefix", "/", "main")]));
    until_name_with(&bed, "other.test", "/", "x-canary: be,ta\r\n", "main").await;
    assert_eq!(bed.worker().await, worker, "no reload was needed");
    bed.proves(&["canary-by-header", "canary-by-header-value", "canary-by-cookie"]);
});
