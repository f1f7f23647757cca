//! Keys of the listener, of its certificates, and HSTS.

use super::{app, plain_site, site};
use crate::support::authority::{Authority, secret, settings};
use crate::support::certificates::ecdsa;
use crate::support::client::{Hello, connect_tls, get_tls_as};
use crate::support::manifests::tls_secret;
use crate::support::{Branch, Echo, until};

on_every_branch!(versions_ciphers_and_protocols, ["--configmap=default/settings"], |bed| async move {
    let (tls12, tls13) = (&rustls::version::TLS12, &rustls::version::TLS13);
    let with = |version| Hello { version: Some(version), alpn: vec!["h2", "http/1.1"], ..Hello::default() };
    let parameters = async |version| {
        let (_, handshake) = connect_tls(bed.https(), Some("x.test"), &with(version)).await?;
        Ok::<_, String>(handshake)
    };
    assert!(parameters(tls12).await.is_ok() && parameters(tls13).await.is_ok());
    assert_eq!(parameters(tls13).await.unwrap().alpn.as_deref(), Some("h2"));
    bed.put(
        "settings.yaml",
        &settings(&[
            ("ssl-min-version", "TLSv1.3"),
            ("ssl-cipher-suites", "TLS_CHACHA20_POLY1305_SHA256"),
            ("tls-alpn", "http/1.1"),
        ]),
    );
    until("TLS 1.3 only", || async {
        match parameters(tls12).await {
            Ok(handshake) => Err(format!("{handshake:?}")),
            Err(_) => Ok(()),
        }
    })
    .await;
    let handshake = parameters(tls13).await.unwrap();
    assert_eq!(handshake.parameters, "TLSv1_3 TLS13_CHACHA20_POLY1305_SHA256");
    assert_eq!(handshake.alpn.as_deref(), Some("http/1.1"));
    // A list that would leave nothing, and a version that does not exist, leave the defaults.
    bed.put(
        "settings.yaml",
        &settings(&[
            ("ssl-ciphers", "HIGH:!HIGH"),
            ("ssl-min-version", "TLSv9"),
            ("tls-alpn", "h2\\nbind :1"),
        ]),
    );
    bed.until_logged(&["value-invalid", "ssl-ciphers", "may leave no cipher"]).await;
    until("TLS 1.2 again", || parameters(tls12)).await;
    bed.put(
        "settings.yaml",
        &settings(&[("ssl-ciphers", "ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384")]),
    );
    until("the cipher", || async {
        let handshake = parameters(tls12).await?;
        let expected = "TLSv1_2 TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384";
        if handshake.parameters == expected { Ok(()) } else { Err(handshake.parameters) }
    })
    .await;
    bed.proves(&["ssl-min-version", "ssl-ciphers", "ssl-cipher-suites", "tls-alpn"]);
});

on_every_branch!(certificates_of_the_config_map, ["--configmap=default/settings"], |bed| async move {
    let echo = Echo::start("echo").await;
    bed.put(
        "app.yaml",
        &(app(echo.address) + &site("own", "own.test", "") + &plain_site("bare", "bare.test", "", "")),
    );
    bed.until_certificate("own.test", "own.test").await;
    // The default certificate, and its renewal without a reload.
    let fallback = ecdsa("fallback", &["x.test"]);
    bed.put("settings.yaml", &settings(&[("ssl-certificate", "default/fallback")]));
    bed.until_logged(&["secret-not-found", "default/fallback", "generated certificate"]).await;
    let worker = bed.worker().await;
    bed.put("fallback.yaml", &tls_secret("fallback", &fallback.certificate, &fallback.key));
    bed.until_certificate("bare.test", "fallback").await;
    let renewed = ecdsa("renewed", &["x.test"]);
    bed.put("fallback.yaml", &tls_secret("fallback", &renewed.certificate, &renewed.key));
    bed.until_certificate("bare.test", "renewed").await;
    bed.until_certificate("own.test", "own.test").await;
    assert_eq!(bed.worker().await, worker, "no reload was needed");
    // Certificates on the fly.
    let authority = Authority::new("development").pair();
    bed.put(
        "signer.yaml",
        &secret("signer", &[("tls.crt", &authority.certificate), ("tls.key", &authority.key)]),
    );
    bed.put("settings.yaml", &settings(&[("generate-certificates-signer", "signer")]));
    bed.until_certificate("bare.test", "bare.test").await;
    bed.until_tls_name("bare.test", "/", "echo").await;
    bed.until_certificate("own.test", "own.test").await;
    // A signer that cannot be used leaves the default certificate.
    bed.put("signer.yaml", &secret("signer", &[("tls.crt", &authority.certificate)]));
    bed.until_logged(&["authority-invalid", "default/signer", "it has no `tls.key`"]).await;
    bed.until_certificate("bare.test", "Outrigger self-signed certificate").await;
    // No certificate at all for unknown names.
    bed.put("settings.yaml", &settings(&[("client-strict-sni", "true")]));
    until("unknown names to be refused", || async {
        match connect_tls(bed.https(), Some("bare.test"), &Hello::default()).await {
            Ok((_, handshake)) => Err(format!("{handshake:?}")),
            Err(_) => Ok(()),
        }
    })
    .await;
    assert!(connect_tls(bed.https(), None, &Hello::default()).await.is_err());
    bed.until_tls_name("own.test", "/", "echo").await;
    bed.proves(&["ssl-certificate", "generate-certificates-signer", "client-strict-sni"]);
});

on_every_branch!(strict_transport_security, ["--configmap=default/settings"], |bed| async move {
    let echo = Echo::start("echo").await;
    let all = "haproxy.org/hsts: \"true\"\nhaproxy.org/hsts-max-age: \"60\"\nhaproxy.org/hsts-include-subdomains: \"true\"\nhaproxy.org/hsts-preload: \"true\"";
    bed.put(
        "app.yaml",
        &(app(echo.address)
            + &site(
                "plain-on",
                "on.test",
                "outrigger.dev/hsts: \"true\"\nhaproxy.org/ssl-redirect: \"false\"",
            )
            + &site("all", "all.test", all)
            + &plain_site(
                "bad",
                "bad.test",
                "haproxy.org/hsts: \"true\"\nhaproxy.org/hsts-max-age: \"1y\"",
                "",
            )
            + &plain_site("plain-off", "off.test", "", "")),
    );
    let header = async |host: &str| {
        let (answer, _) = get_tls_as(bed.https(), (host, host), "/", "", &Hello::default()).await?;
        Ok::<_, String>(answer.header("strict-transport-security").map(str::to_owned))
    };
    for (host, expected) in [
        ("on.test", Some("max-age=15768000")),
        ("all.test", Some("max-age=60; includeSubDomains; preload")),
        ("bad.test", Some("max-age=15768000")),
        ("off.test", None),
    ] {
        bed.until_tls_name(host, "/", "echo").await;
        assert_eq!(header(host).await.unwrap().as_deref(), expected, "{host}");
    }
    bed.until_logged(&["value-invalid", "hsts-max-age", "1y"]).await;
    assert_eq!(bed.get("on.test", "/").await.header("strict-transport-security"), None, "clear text");
    bed.put("settings.yaml", &settings(&[("hsts", "on"), ("hsts-max-age", "1d")]));
    until("the ConfigMap to count", || async {
        match header("off.test").await? {
            Some(value) if value == "max-age=86400" => Ok(()),
            other => Err(format!("{other:?}")),
        }
    })
    .await;
    bed.proves(&["hsts", "hsts-max-age", "hsts-include-subdomains", "hsts-preload"]);
});
