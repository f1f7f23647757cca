//! What policies make of servers.

use super::haproxy::{HaProxy, pem};
use super::*;
use crate::model::policy::Mode;
use crate::model::policy::servers::*;

/// Everything that needs no file.
fn everything() -> Policy {
    let mut policy = Policy {
        balance: Balance::Hash(HashKey { fetch: Fetch::Header("X-User".into()), cases: vec![Case::Lower] }),
        ..Policy::default()
    };
    policy.servers = ServerPolicy {
        slots: Some(4),
        max_connections: Some(MaxConnections::shared(7, 2)),
        check: Some(Check {
            http: Some(HttpCheck {
                method: Method::Get,
                uri: "/a?b=%20".into(),
                version: HttpVersion::Http11,
            }),
            interval: Some(500),
            timeout: Some(1500),
        }),
        persistence: Some(Persistence { cookie: "pod".into(), by_name: true }),
        tls: Some(ServerTls::default()),
        protocol: Protocol::Any,
        proxy_protocol: Some(ProxyProtocol::V2SslCn),
        abort_on_close: Some(false),
        retries: Retries {
            count: Some(2),
            on: vec![RetryOn::ConnectionFailure, RetryOn::Status(401), RetryOn::Status(503)],
            redispatch: Some(false),
        },
        external: None,
        refused: false,
    };
    policy
}

/// The header without its first two lines, then the servers.
fn lines(branch: &str, policy: Policy) -> Vec<String> {
    let mut model = empty();
    let servers =
        [server("10.0.0.1", 80, ServerState::Active), server("10.0.0.2", 80, ServerState::Draining)];
    let mut backend = backend("ns/web", 80, &servers);
    backend.policy = Arc::new(policy);
    let name = add_backend(&mut model, backend);
    let texts = renderer(branch).full(&model, &Texts::default());
    let text = texts.backends.get(&name).unwrap();
    let servers = text.servers.iter().map(|(name, line)| format!("server {name} {line}"));
    text.header.lines().skip(2).map(|line| line.trim().to_owned()).chain(servers).collect()
}

#[test]
fn keywords_are_what_add_server_takes() {
    let id = |address| server(address, 80, ServerState::Active).id;
    let (one, two) = (id("10.0.0.1"), id("10.0.0.2"));
    let common = "ssl verify none no-sni-auto no-check-sni-auto alpn h2,http/1.1 send-proxy-v2-ssl-cn check inter 500ms";
    assert_eq!(
        lines("3.4", everything()),
        [
            "balance hash req.hdr(X-User),lower".to_owned(),
            "hash-type consistent".to_owned(),
            "cookie pod insert indirect nocache".to_owned(),
            "option httpchk".to_owned(),
            "http-check send meth GET uri /a?b=%20 ver HTTP/1.1 hdr Host localhost".to_owned(),
            "timeout check 1500ms".to_owned(),
            "no option abortonclose".to_owned(),
            "retries 2".to_owned(),
            "retry-on conn-failure 401 503".to_owned(),
            "no option redispatch".to_owned(),
            format!("# servers: {common}"),
            format!("server 10.0.0.1:80 10.0.0.1:80 id {one} {common} cookie 10.0.0.1:80 maxconn 3"),
            format!("server 10.0.0.2:80 10.0.0.2:80 id {two} {common} cookie 10.0.0.2:80 maxconn 3 weight 0"),
        ]
    );
}

#[test]
fn slots_of_2_2_have_the_keywords_before_they_have_a_server() {
    let common = "ssl verify none send-proxy-v2-ssl-cn check inter 500ms maxconn 3";
    let lines = lines("2.2", everything());
    assert_eq!(lines[0], "balance hdr(X-User)");
    assert_eq!(lines[8], "retry-on conn-failure 503", "401 is newer");
    assert_eq!(
        lines[10..],
        [
            format!("# servers: {common}"),
            "# 4 slots".to_owned(),
            format!("server s1 10.0.0.1:80 {common} cookie 10.0.0.1:80"),
            format!("server s2 10.0.0.2:80 {common} cookie 10.0.0.2:80 weight 0"),
            format!("server s3 127.0.0.1:1 {common} disabled"),
            format!("server s4 127.0.0.1:1 {common} disabled"),
        ]
    );
}

#[test]
fn files_are_loaded_by_a_server_that_never_serves() {
    let asset = |kind, stem| Some(Asset::new(kind, stem, Bytes::from_static(b"x")));
    let mut policy = Policy::default();
    policy.servers.tls = Some(ServerTls {
        authority: asset(AssetKind::Authority, "ns_ca"),
        certificate: asset(AssetKind::KeyPair, "ns_client"),
    });
    let files = "ssl verify required ca-file /var/lib/haproxy/files/ns_ca-2d711642b726b044.pem \
                 crt /var/lib/haproxy/files/ns_client-2d711642b726b044.pem";
    let lines_of = |branch| lines(branch, policy.clone());
    assert_eq!(
        lines_of("2.6")[1],
        format!("server-template preload 1 127.0.0.1:1 disabled {files} alpn h2,http/1.1")
    );
    assert!(lines_of("2.6")[3].contains(files));
    assert!(!lines_of("2.2").iter().any(|line| line.contains("preload")), "slots are there anyway");
    assert_eq!(policy.assets().len(), 2);
    let text = crate::plan::BackendText {
        header: lines_of("3.2").iter().flat_map(|line| ["  ", line, "\n"]).collect::<String>().into(),
        servers: std::collections::BTreeMap::new(),
        assets: Vec::new(),
    };
    assert!(text.has_fixed("preload1") && !text.has_fixed("preload") && !text.has_fixed("s1"));
}

#[test]
fn a_name_outside_is_no_unit_of_its_own() {
    let mut policy = everything();
    policy.servers.check.as_mut().unwrap().http = None;
    policy.servers.external = Some(External { host: ExternalHost::Name("example.org".into()), port: 443 });
    let all = lines("3.4", policy.clone());
    assert_eq!(
        all.last().unwrap(),
        "server-template external 1 example.org:443 resolvers cluster resolve-prefer ipv4 init-addr libc,none ssl verify none \
         sni str(example.org) check-sni example.org alpn h2,http/1.1 send-proxy-v2-ssl-cn check inter 500ms maxconn 3 cookie external"
    );
    assert_eq!(lines("2.2", policy).len(), all.len(), "no slots");
    let mut model = empty();
    let main = |model: &Model| renderer("3.2").full(model, &Texts::default()).main;
    assert!(!main(&model).contains("resolvers"));
    Arc::make_mut(&mut model.global).needs.insert(Need::Resolvers);
    assert!(main(&model).contains("\nresolvers cluster\n  parse-resolv-conf\n"));
}

#[test]
fn what_is_refused_answers_503() {
    let mut policy = Policy::default();
    policy.servers.refused = true;
    assert_eq!(lines("3.2", policy.clone())[1], "http-request deny deny_status 503");
    policy.mode = Mode::Tcp;
    assert_eq!(lines("3.2", policy)[2], "tcp-request content reject");
}

/// Every algorithm and keyword, in both modes, without a word of warning.
#[test]
fn haproxy_takes_all_of_it() {
    let name = || Arc::<str>::from("X-User");
    let balances = [
        Balance::First,
        Balance::Random(Some(3)),
        Balance::Source,
        Balance::Uri(UriPart { whole: true, path_only: true, len: Some(3), depth: Some(2) }),
        Balance::UrlParam { name: name(), check_post: true },
        Balance::Header { name: name(), domain_only: true },
        Balance::RdpCookie(Some(name())),
        Balance::Hash(HashKey { fetch: Fetch::Cookie(name()), cases: vec![Case::Upper] }),
        Balance::Hash(HashKey { fetch: Fetch::PathAndQuery, cases: Vec::new() }),
        Balance::Hash(HashKey { fetch: Fetch::Source, cases: Vec::new() }),
    ];
    for branch in BRANCHES {
        let mut model = empty();
        model.default_certificate = pem(&["default.test"]).0;
        Arc::make_mut(&mut model.global).needs.insert(Need::Resolvers);
        let mut number = 0;
        let mut add = |mut policy: Policy| {
            // There is nobody to answer a check, and a failure would be logged.
            let servers =
                [server("127.0.0.1", 9, ServerState::Active), server("::1", 9, ServerState::Draining)];
            for servers in [&[], &servers[..]] {
                number += 1;
                let mut backend = backend(&format!("ns/s{number}"), 80, servers);
                backend.policy = Arc::new(policy.clone());
                add_backend(&mut model, backend);
                policy.servers.check = None;
            }
        };
        for mode in [Mode::Http, Mode::Tcp] {
            for balance in balances.clone() {
                add(Policy { mode, balance, ..everything() });
            }
            for protocol in [Protocol::Http1, Protocol::Http2] {
                for tls in [None, Some(ServerTls::default())] {
                    let mut policy = Policy { mode, ..everything() };
                    (policy.servers.protocol, policy.servers.tls) = (protocol, tls);
                    policy.servers.refused = true;
                    add(policy);
                }
            }
            for proxy in [ProxyProtocol::V1, ProxyProtocol::V2, ProxyProtocol::V2Ssl] {
                let mut policy = Policy { mode, ..everything() };
                policy.servers.proxy_protocol = Some(proxy);
                policy.servers.persistence = Some(Persistence { cookie: "pod".into(), by_name: false });
                policy.servers.abort_on_close = Some(true);
                add(policy);
            }
            let mut policy = Policy { mode, ..everything() };
            let host = ExternalHost::Address("2001:db8::1".parse().unwrap());
            policy.servers.external = Some(External { host, port: 443 });
            policy.servers.check = None;
            add(policy);
        }
        HaProxy::start(branch, &mut model);
    }
}
