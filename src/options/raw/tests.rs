use super::*;

fn refused<T: std::fmt::Debug>(key: &Key<T>, text: &str) -> String {
    match (key.parse)(text) {
        Err(wrong) => wrong.0.into_owned(),
        Ok(lines) => unreachable!("{text:?} gives {lines:?}"),
    }
}

fn lines(key: &Key<Lines>, text: &str) -> Vec<String> {
    (key.parse)(text).map(|lines| lines.iter().map(ToString::to_string).collect()).unwrap_or_default()
}

#[test]
fn lines_are_kept_as_they_are_without_comments() {
    let text = "# about it\n  http-request set-header X \"a # b\" # why\r\n\n\thttp-request deny if { path_reg ^/a\\#$ }\n";
    assert_eq!(
        lines(&BACKEND_CONFIG_SNIPPET, text),
        ["http-request set-header X \"a # b\"", "http-request deny if { path_reg ^/a\\#$ }"]
    );
    assert_eq!(
        lines(&GLOBAL_CONFIG_SNIPPET, "no insecure-fork-wanted\ntune.bufsize 32768"),
        ["no insecure-fork-wanted", "tune.bufsize 32768"]
    );
    assert_eq!(lines(&FRONTEND_CONFIG_SNIPPET, "use_backend x if { path /'a b' }").len(), 1);
}

#[test]
fn nothing_leaves_its_section() {
    for text in [
        "backend x",
        "  backend x\n  server y 1.2.3.4:80",
        "\"backend\" x",
        "'backend' x",
        "\\x62ackend x",
        "b\"ack\"end x",
        "no backend x",
        "global",
        "frontend f",
        "listen l",
        "defaults",
        "peers p",
        "userlist u",
        "resolvers r",
        "http-errors e",
        "program p",
        "cache c",
        "ring r",
        "crt-store s",
        "fcgi-app f",
        "mailers m",
        "log-forward l",
        ".if 0",
        ".alert x",
        "a\\nb c",
        "${KEYWORD} x",
        "\"\" x",
        "no",
        "ä b",
        "%[env(HOME)]",
    ] {
        for key in
            [&GLOBAL_CONFIG_SNIPPET, &FRONTEND_CONFIG_SNIPPET, &STATS_CONFIG_SNIPPET, &BACKEND_CONFIG_SNIPPET]
        {
            assert!((key.parse)(text).is_err(), "{text:?}");
            assert!((key.parse)(&format!("option a\n{text}")).is_err(), "{text:?}");
        }
    }
}

#[test]
fn a_line_is_a_line() {
    let snippet = &BACKEND_CONFIG_SNIPPET;
    for (text, reason) in [
        ("", "it has no line"),
        ("# only a comment", "it has no line"),
        ("option a\0b", "line 1: a control character"),
        ("option a\n\u{b}", "line 2: a control character"),
        ("option a\rb", "line 1: a control character"),
        ("option \u{2028}", "line 1: a control character"),
        ("option \u{1b}[0m", "line 1: a control character"),
        ("option \"a", "line 1: a quote that is not closed"),
        ("option 'a\noption b'", "line 1: a quote that is not closed"),
        ("option a\\", "line 1: a backslash at the end"),
        ("option a\\\noption b", "line 1: a backslash at the end"),
    ] {
        assert_eq!(refused(snippet, text), reason, "{text:?}");
    }
    assert!(refused(snippet, &format!("option {}", "x".repeat(3_000))).contains("2000"));
    assert!(refused(snippet, &"a ".repeat(100)).contains("63 words"));
    assert!(refused(snippet, &"option a\n".repeat(501)).contains("500 lines"));
    assert!((snippet.parse)(&"option a\n".repeat(500)).is_ok());
}

#[test]
fn servers_and_what_keeps_haproxy_from_being_driven_are_refused() {
    for text in ["server x 1.2.3.4:80", "default-server check", "server-template a 3 b:80", "no server x"] {
        assert!(refused(&BACKEND_CONFIG_SNIPPET, text).contains("Service brings"), "{text}");
    }
    for text in [
        "chroot /x",
        "user a",
        "group a",
        "daemon",
        "pidfile /x",
        "description x",
        "nbproc 2",
        "master-worker",
    ] {
        assert!(refused(&GLOBAL_CONFIG_SNIPPET, text).contains("driven"), "{text}");
        assert!((FRONTEND_CONFIG_SNIPPET.parse)(text).is_ok(), "left to HAProxy: {text}");
    }
}

#[test]
fn tenants_stay_in_their_backend() {
    let check = |text: &str| {
        let lines = (BACKEND_CONFIG_SNIPPET.parse)(text);
        lines.map_err(|wrong| wrong.0.into_owned()).and_then(|lines| tenant(&lines))
    };
    for text in [
        "stats enable",
        "no stats admin",
        "filter spoe engine x config /etc/passwd",
        "errorfile 503 /etc/passwd",
        "http-error status 500 file certs/default.pem",
        "http-request return status 200 content-type text/plain file https.crt-list",
        "http-request return status 200 content-type text/plain lf-file x",
        "http-request return status 200 content-type text/plain \"file\" x",
        "http-request return status 200 content-type text/plain \\x66ile x",
        "http-request use-service prometheus-exporter",
        "http-request set-map(/etc/haproxy/maps/exact.map) a b",
        "http-request add-acl(x) y",
        "http-request set-header X %[path,map(maps/exact.map)]",
        "http-request set-header X %[path,map_beg(maps/exact.map,none)]",
        "http-request set-header X %[env(HOME)]",
        "http-request set-header X \"$HOME\"",
        "http-request set-header X \"a ${HOME}\"",
        "http-request set-var(proc.x) int(1)",
        "http-request deny if { src -f /etc/passwd }",
        "http-request deny if { src -f patterns/../x }",
        "http-request deny if { src -f patterns/outrigger-ingress_other_a_allow-list.lst }",
        "http-request deny if { src -M -f patterns/x }",
        "acl a path_beg /var/lib/haproxy/certs",
        "acl a path_beg /var/lib//haproxy/./certs",
        "acl a path_beg /x/../etc",
        "acl a path_beg /var/run/secrets/kubernetes.io",
        "option external-check",
        "external-check command /bin/sh",
        "mode tcp",
        "id 5",
        "guid x",
    ] {
        assert!(check(text).is_err(), "{text}");
    }
    for text in [
        "http-request set-header X-Team shop",
        "http-request deny if { path_beg /profile /map /env }",
        "http-request replace-path ^/a$ '/b'",
        "http-request set-header X \"%[src]\"",
        "http-request deny if { src -f patterns/offices }",
        "http-request return status 200 content-type text/plain string \"a file\"",
        "http-response set-header Cache-Control \"max-age=3600\"",
        "timeout server 3s",
        "acl a path /etc/x",
    ] {
        assert_eq!(check(text), Ok(()), "{text}");
    }
}
