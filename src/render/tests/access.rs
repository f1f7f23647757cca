//! Who may, and how often, as text and in real HAProxy.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use super::haproxy::{HaProxy, free_listeners, pem, pod, request};
use super::*;
use crate::cluster::ObjectName;
use crate::model::policy::access::{Access, Cors, CorsOrigins, Login, RateLimit};

fn list(model: &mut Model, name: &str, patterns: &[&str]) -> ListName {
    let name = ListName::file(name);
    model.lists.insert_mut(name.clone(), Arc::new(patterns.iter().map(|p| Arc::from(*p)).collect()));
    name
}

fn with_access(
    model: &mut Model,
    service: &str,
    mode: Mode,
    access: Access,
    address: SocketAddr,
) -> BackendName {
    let mut backend = backend(service, 80, &[server("127.0.0.1", address.port(), ServerState::Active)]);
    backend.policy = Arc::new(Policy { mode, access, ..Policy::default() });
    add_backend(model, backend)
}

/// Everything at once, with values that need care.
fn everything(model: &mut Model, realm: &str, user: &str) -> Access {
    let secret = ObjectName::new("shop", "users");
    let hashes = BTreeMap::from([(Arc::from(user), Arc::from("$1$saltsalt$9xy1btjgzLYfb7hivXtC//"))]);
    let global = Arc::make_mut(&mut model.global);
    global.needs.insert(Need::Users(Users { secret: secret.clone(), hashes }));
    global.needs.insert(Need::RateTable { period: 60_000, size: 1_000 });
    model.values.insert_mut("rate-limit|ingress/shop/shop".into(), "2".into());
    let (deny, allow, exempt) = (
        list(model, "deny", &["192.0.2.0/24"]),
        list(model, "allow", &["127.0.0.0/8"]),
        list(model, "free", &[]),
    );
    Access {
        closed: false,
        deny_list: Some(deny),
        allow_list: Some(allow),
        login: Some(Login { secret, realm: realm.into() }),
        rate_limit: Some(RateLimit {
            key: "rate-limit|ingress/shop/shop".into(),
            period: 60_000,
            size: 1_000,
            status: 429,
            exempt: Some(exempt),
        }),
        cors: Some(Cors {
            origins: Some(CorsOrigins {
                exact: vec!["https://a.test".into(), "http://[::1]:3000".into()],
                matching: vec![r"^(https://(.+\.)?b\.test(:\d{1,5})?)$".into()],
            }),
            methods: "GET, PUT".into(),
            headers: "*".into(),
            credentials: true,
            max_age: 5,
            preflight: true,
        }),
        max_body: Some(1_000),
        timeout_server: Some(30_000),
        timeout_tunnel: Some(600_000),
    }
}

#[test]
fn rules_stand_in_the_order_in_which_they_count() {
    let mut model = empty();
    let access = everything(&mut model, "a b", "ann");
    let name = with_access(&mut model, "shop/web", Mode::Http, access, SocketAddr::from(([127, 0, 0, 1], 1)));
    let texts = renderer("3.2").full(&model, &Texts::default());
    let header = &texts.backends.get(&name).unwrap().header;
    let at = |text: &str| header.find(text).unwrap_or_else(|| panic!("no {text} in {header}"));
    let order = [
        "timeout server 30000ms\n",
        "timeout tunnel 600000ms\n",
        "set-var(txn.cors_origin)",
        "deny deny_status 403 if { src -f /etc/haproxy/patterns/deny }\n",
        "deny deny_status 403 unless { src -f /etc/haproxy/patterns/allow }\n",
        "return status 204 ",
        "auth realm a\\ b unless { http_auth(users_shop_users) }\n",
        "track-sc2 ",
        "deny deny_status 429 ",
        "deny deny_status 413 ",
    ];
    assert!(order.map(at).is_sorted(), "{header}");
    for section in
        ["peers outrigger\n", "backend rate-limit_60000-1000 from outrigger\n", "userlist users_shop_users\n"]
    {
        assert!(texts.main.contains(section), "{}", texts.main);
    }
}

#[test]
fn odd_realms_and_users_are_only_text() {
    for branch in BRANCHES {
        let mut model = empty();
        model.default_certificate = pem(&["default.test"]).0;
        let access = everything(&mut model, "a 100% 'b' [c] $HOME #d {e} %[src] }", "a b#'\"$HOME\\");
        let echo = pod("web");
        let web = with_access(&mut model, "shop/web", Mode::Http, access, echo);
        add_route(&mut model, route(key(exact_host("a.test"), prefix("")), Some(&web), &[]));
        let haproxy = HaProxy::start(branch, &mut model);
        let get = |more: &str| haproxy.http(&format!("GET / HTTP/1.1\r\nHost: a.test\r\n{more}"));
        let answer = get("Origin: https://x.b.test:8080\r\n");
        assert_eq!(answer.status, 401, "{branch}");
        let realm = "Basic realm=\"a 100% 'b' [c] $HOME #d {e} %[src] }\"";
        assert_eq!(answer.header("www-authenticate"), Some(realm), "{branch}");
        assert_eq!(answer.header("access-control-allow-origin"), Some("https://x.b.test:8080"), "{branch}");
        // `a b#'"$HOME\:secret`.
        assert_eq!(get("Authorization: Basic YSBiIyciJEhPTUVcOnNlY3JldA==\r\n").status, 200, "{branch}");
        assert_eq!(get("Authorization: Basic YTpzZWNyZXQ=\r\n").status, 401, "{branch}");
    }
}

#[test]
fn connections_are_closed_where_requests_are_not_seen() {
    for branch in BRANCHES {
        let mut model = empty();
        model.default_certificate = pem(&["default.test"]).0;
        let echo = pod("web");
        let (here, elsewhere) =
            (list(&mut model, "here", &["127.0.0.1/32"]), list(&mut model, "else", &["192.0.2.1/32"]));
        let some = |list: &ListName| Some(list.clone());
        let cases = [
            ("a", Access::default(), true),
            ("b", Access { deny_list: some(&here), ..Access::default() }, false),
            ("c", Access { deny_list: some(&elsewhere), ..Access::default() }, true),
            ("d", Access { allow_list: some(&here), ..Access::default() }, true),
            ("e", Access { allow_list: some(&elsewhere), ..Access::default() }, false),
            ("f", Access { closed: true, ..Access::default() }, false),
        ];
        let listeners: Vec<_> = cases.iter().map(|_| free_listeners()).collect();
        let from = crate::render::main_file::from(capabilities(branch));
        let mut more = String::new();
        let mut ports = Vec::new();
        for ((name, access, _), listeners) in cases.iter().zip(&listeners) {
            let backend = with_access(&mut model, &format!("shop/{name}"), Mode::Tcp, access.clone(), echo);
            let port = listeners.stats;
            let lines = [
                format!("frontend {name}{from}"),
                format!("  mode tcp\n  option tcplog\n  bind 127.0.0.1:{port}"),
                format!("  default_backend {backend}\n"),
            ];
            more.push_str(&lines.join("\n"));
            ports.push(port);
        }
        let _haproxy = HaProxy::start_with(branch, &mut model, "", &more);
        for ((name, _, served), port) in cases.iter().zip(ports) {
            let answer = request(SocketAddr::from(([127, 0, 0, 1], port)), "GET / HTTP/1.1\r\nHost: a\r\n");
            assert_eq!(answer.is_ok_and(|answer| answer.status == 200), *served, "{branch}: {name}");
        }
    }
}
