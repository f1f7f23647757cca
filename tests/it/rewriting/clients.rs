//! Who the client is: the source address, forwarding headers, trusted proxies, the PROXY protocol.

use super::{app, config_map, get, received, request, send, start};
use crate::support::client::Answer;
use crate::support::{Branch, until};

on_every_branch!(the_client_is_who_connects_or_whom_a_header_names, |bed| async move {
    let _echo = start(&bed).await;
    bed.put(
        "a.yaml",
        &[
            app("plain", &[]),
            app("quiet", &[("forwarded-for", "false")]),
            app("source", &[("src-ip-header", "True-Client-IP"), ("request-set-header", "X-Source %[src]")]),
            app("last", &[("src-ip-header", "X-Forwarded-For"), ("request-set-header", "X-Source %[src]")]),
            app("hidden", &[("src-ip-header", "True-Client-IP"), ("forwarded-for", "off")]),
            app("bad", &[("src-ip-header", "a,b"), ("forwarded-for", "maybe")]),
        ]
        .concat(),
    );
    for name in ["plain", "quiet", "source", "last", "hidden", "bad"] {
        bed.until_name(&format!("{name}.test"), "/", "echo").await;
    }
    bed.until_settled().await;
    let chain = |answer: &Answer| received(answer, "x-forwarded-for").join(", ");
    let named = "True-Client-IP: 192.0.2.7";
    let came = ["X-Forwarded-For: 198.51.100.1", "X-Forwarded-For: 198.51.100.2, 198.51.100.3", named];
    // (host, nothing came with the request, an X-Forwarded-For did; in HAProxy both lines are extended)
    for (host, alone, extended) in [
        ("plain.test", "127.0.0.2", "198.51.100.1, 127.0.0.2, 198.51.100.2, 198.51.100.3, 127.0.0.2"),
        ("quiet.test", "", "198.51.100.1, 198.51.100.2, 198.51.100.3"),
        ("source.test", "127.0.0.2", "198.51.100.1, 192.0.2.7, 198.51.100.2, 198.51.100.3, 192.0.2.7"),
        ("last.test", "127.0.0.2", "198.51.100.1, 198.51.100.3, 198.51.100.2, 198.51.100.3, 198.51.100.3"),
        ("hidden.test", "", "198.51.100.1, 198.51.100.2, 198.51.100.3"),
        ("bad.test", "127.0.0.2", "198.51.100.1, 127.0.0.2, 198.51.100.2, 198.51.100.3, 127.0.0.2"),
    ] {
        assert_eq!(chain(&get(&bed, "127.0.0.2", host, &[]).await), alone, "{host}");
        assert_eq!(chain(&get(&bed, "127.0.0.2", host, &came).await), extended, "{host}");
    }
    assert_eq!(received(&get(&bed, "127.0.0.2", "source.test", &[named]).await, "x-source"), ["192.0.2.7"]);
    assert_eq!(received(&get(&bed, "127.0.0.2", "last.test", &came).await, "x-source"), ["198.51.100.3"]);
    let nonsense = get(&bed, "127.0.0.2", "source.test", &["True-Client-IP: me"]).await;
    assert_eq!(received(&nonsense, "x-source"), ["127.0.0.2"]);
    // The header of one request says nothing about the next one of the same connection.
    let first = format!("GET / HTTP/1.1\r\nHost: source.test\r\n{named}\r\n\r\n");
    let both = send(&bed, "127.0.0.2", &(first + &request("plain.test", "/", &[]))).await.unwrap();
    assert_eq!(received(&both, "x-forwarded-for"), ["192.0.2.7", "127.0.0.2"], "{}", both.body);
    bed.until_logged(&["value-invalid", "default/bad", "src-ip-header"]).await;
    // It changes.
    bed.put("a.yaml", &app("quiet", &[]));
    until("X-Forwarded-For", || async {
        let answer = send(&bed, "127.0.0.2", &request("quiet.test", "/", &[])).await?;
        if chain(&answer) == "127.0.0.2" { Ok(()) } else { Err(answer.body) }
    })
    .await;
    bed.proves(&["forwarded-for", "src-ip-header"]);
});

on_every_branch!(only_trusted_proxies_are_believed, ["--configmap=default/settings"], |bed| async move {
    let _echo = start(&bed).await;
    bed.put("config.yaml", &config_map(&[("trusted-proxies", "127.0.0.3, 192.0.2.0/24")]));
    bed.put(
        "a.yaml",
        &[
            app("plain", &[]),
            app("source", &[("src-ip-header", "True-Client-IP"), ("request-set-header", "X-Source %[src]")]),
            app("secure", &[("ssl-redirect", "true")]),
            app("away", &[("request-redirect", "www.test")]),
        ]
        .concat(),
    );
    bed.until_name("source.test", "/", "echo").await;
    bed.until_settled().await;
    let headers = [
        "X-Forwarded-For: 198.51.100.1",
        "X-Forwarded-Proto: https",
        "X-Forwarded-Host: shop.test",
        "X-Forwarded-Port: 444",
        "Forwarded: for=198.51.100.1",
        "True-Client-IP: 192.0.2.7",
    ];
    let names = ["x-forwarded-for", "x-forwarded-proto", "x-forwarded-host", "x-forwarded-port", "forwarded"];
    let all = |answer: &Answer| names.map(|name| received(answer, name).join(", "));
    let untrusted = ["127.0.0.2", "http", "plain.test", "80", ""];
    let trusted = ["198.51.100.1, 127.0.0.3", "https", "shop.test", "444", "for=198.51.100.1"];
    assert_eq!(all(&get(&bed, "127.0.0.2", "plain.test", &headers).await), untrusted);
    assert_eq!(all(&get(&bed, "127.0.0.3", "plain.test", &headers).await), trusted);
    // What a trusted proxy does not say is as for everybody.
    let port = get(&bed, "127.0.0.3", "plain.test:8080", &[]).await;
    assert_eq!(all(&port), ["127.0.0.3", "http", "plain.test:8080", "8080", ""]);
    assert_eq!(received(&get(&bed, "127.0.0.2", "source.test", &headers).await, "x-source"), ["127.0.0.2"]);
    assert_eq!(received(&get(&bed, "127.0.0.3", "source.test", &headers).await, "x-source"), ["192.0.2.7"]);
    // TLS may end at the proxy.
    assert_eq!(get(&bed, "127.0.0.2", "secure.test", &headers).await.status, 302);
    assert_eq!(get(&bed, "127.0.0.3", "secure.test", &[]).await.status, 302);
    assert_eq!(get(&bed, "127.0.0.3", "secure.test", &headers).await.status, 200);
    let location = get(&bed, "127.0.0.3", "away.test", &headers).await;
    assert_eq!(location.header("location"), Some("https://www.test/"));
    // The list changes while HAProxy runs.
    let worker = bed.worker().await;
    bed.put("config.yaml", &config_map(&[("trusted-proxies", "127.0.0.2")]));
    until("another proxy to be trusted", || async {
        let (two, three) = (
            all(&send(&bed, "127.0.0.2", &request("plain.test", "/", &headers)).await?),
            all(&send(&bed, "127.0.0.3", &request("plain.test", "/", &headers)).await?),
        );
        if two[1] == "https" && three[1] == "http" { Ok(()) } else { Err(format!("{two:?} {three:?}")) }
    })
    .await;
    bed.put("config.yaml", &config_map(&[("trusted-proxies", "none")]));
    until("nobody to be trusted", || async {
        let two = all(&send(&bed, "127.0.0.2", &request("plain.test", "/", &headers)).await?);
        if two == untrusted { Ok(()) } else { Err(format!("{two:?}")) }
    })
    .await;
    assert_eq!(bed.worker().await, worker, "no reload was needed");
    bed.put("config.yaml", &config_map(&[("trusted-proxies", "everybody")]));
    bed.until_logged(&["value-invalid", "trusted-proxies", "everybody"]).await;
    bed.proves(&["trusted-proxies"]);
});

on_every_branch!(
    the_proxy_protocol_is_expected_from_its_senders,
    ["--configmap=default/settings"],
    |bed| async move {
        let _echo = start(&bed).await;
        bed.put("a.yaml", &app("plain", &[]));
        bed.put(
            "config.yaml",
            &config_map(&[("proxy-protocol", "127.0.0.3 127.0.0.4"), ("trusted-proxies", "192.0.2.9")]),
        );
        let plain = request("plain.test", "/", &["X-Forwarded-Proto: https"]);
        let from = |client: &str| format!("PROXY TCP4 {client} 192.0.2.1 40000 80\r\n{plain}");
        until("the PROXY protocol", || async {
            let answer = send(&bed, "127.0.0.3", &from("192.0.2.9")).await?;
            let seen = (received(&answer, "x-forwarded-for"), received(&answer, "x-forwarded-proto"));
            // The client that it names is the one that is trusted or not.
            if seen == (vec!["192.0.2.9"], vec!["https"]) {
                Ok(())
            } else {
                Err(format!("{} {seen:?}", answer.status))
            }
        })
        .await;
        let answer = send(&bed, "127.0.0.3", &from("192.0.2.10")).await.unwrap();
        assert_eq!(received(&answer, "x-forwarded-for"), ["192.0.2.10"]);
        assert_eq!(received(&answer, "x-forwarded-proto"), ["http"]);
        let without = send(&bed, "127.0.0.3", &plain).await;
        assert!(
            without.as_ref().is_err_and(|_| true) || without.as_ref().unwrap().status == 400,
            "{without:?}"
        );
        // Nobody else may, and the health port never does.
        assert_eq!(send(&bed, "127.0.0.2", &plain).await.unwrap().status, 200);
        assert_ne!(send(&bed, "127.0.0.2", &from("192.0.2.9")).await.map(|a| a.status), Ok(200));
        let worker = bed.worker().await;
        bed.put(
            "config.yaml",
            &config_map(&[("proxy-protocol", "127.0.0.2"), ("trusted-proxies", "192.0.2.9")]),
        );
        until("another sender", || async {
            let two = send(&bed, "127.0.0.2", &from("192.0.2.10")).await?;
            let three = send(&bed, "127.0.0.3", &plain).await?;
            let seen = (received(&two, "x-forwarded-for"), received(&three, "x-forwarded-for"));
            if seen == (vec!["192.0.2.10"], vec!["127.0.0.3"]) { Ok(()) } else { Err(format!("{seen:?}")) }
        })
        .await;
        assert_eq!(bed.worker().await, worker, "no reload was needed");
        bed.proves(&["proxy-protocol"]);
    }
);
