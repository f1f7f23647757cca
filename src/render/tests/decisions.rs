//! Conditions, splits and regular expressions: HAProxy decides as `resolve` says.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use super::haproxy::{HaProxy, pem};
use super::models::*;
use super::requests::{on_every_branch, service};
use crate::model::*;
use crate::options::condition::expression;
use crate::options::regex::check as regex_check;

on_every_branch!(conditions_splits_and_regular_expressions, every_test_and_expression_that_passes_loads);

fn candidate(conditions: &[Condition], split: &[(u32, &BackendName)]) -> Candidate {
    let mut made = route(key(HostMatch::Any, prefix("")), Some(split[0].1), &[]).candidates.remove(0);
    made.conditions = conditions.to_vec();
    made.split =
        split.iter().map(|(weight, name)| Weighted { weight: *weight, backend: (*name).clone() }).collect();
    made
}

fn regex(text: &str) -> PathMatch {
    PathMatch::Regex(text.into())
}

/// What a GET with these headers says: the name of a pod, or the status and the location.
fn get(haproxy: &HaProxy, host: &str, path: &str, headers: &[(&str, &str)]) -> String {
    let headers: Vec<String> = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let headers = headers.concat();
    let response = haproxy.http(&format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n{headers}"));
    match (response.status, response.header("location")) {
        (200, _) => response.text().lines().next().unwrap().to_owned(),
        (status, Some(location)) => format!("{status} {location}"),
        (status, None) => status.to_string(),
    }
}

/// The same as `resolve` says, for every share of a split.
fn resolved(model: &Model, host: &str, path: &str, headers: &[(&str, &str)]) -> BTreeSet<String> {
    const REGEXES: [&str; 5] = ["/r/[0-9]+", "/r/.*", "/(a|b)/c$", "/any.+", "/split[0-9]"];
    const TEST: &str = "path -m end -- -beta";
    static COMPILED: LazyLock<[regex::Regex; 5]> =
        LazyLock::new(|| REGEXES.map(|text| regex::Regex::new(&format!("^(?:{text})")).unwrap()));
    let matches = |text: &&str| {
        COMPILED.iter().any(|regex| regex.as_str() == format!("^(?:{text})") && regex.is_match(path))
    };
    let mut judged: Vec<&str> = REGEXES.into_iter().filter(matches).collect();
    judged.extend(path.ends_with("-beta").then_some(TEST));
    let request = |draw| Request {
        table: Table::ingress(),
        host,
        path,
        query: "",
        method: "GET",
        headers,
        tls: false,
        judged: &judged,
        draw,
    };
    let said = |draw| match resolve(model, &request(draw)).outcome {
        Outcome::RedirectToHttps(status, port) => {
            let port = port.map(|port| format!(":{port}")).unwrap_or_default();
            format!("{status} https://{host}{port}{path}")
        }
        Outcome::Backend(name) => {
            let name = name.as_str();
            let name = name.strip_prefix("ns_").and_then(|name| name.strip_suffix("_80")).unwrap_or(name);
            name.strip_prefix("fixed_").unwrap_or(name).to_owned()
        }
    };
    (0..8).map(said).collect()
}

fn conditions_splits_and_regular_expressions(branch: &str) {
    let mut model = empty();
    model.default_certificate = pem(&["default.test"]).0;
    let [one, two, three, default] = ["one", "two", "three", "default"].map(|name| service(&mut model, name));
    let test = ["path", "-m", "end", "--", "-beta"].map(Into::into).to_vec();
    let test = Condition::Expression(Expression(test));
    let header = |value: &str| Condition::Header("x-canary".into(), value.into());
    let cookie = |value: &str| Condition::Cookie("can.ary".into(), value.into());
    let mut add = |host: HostMatch, path: PathMatch, candidates: Vec<Candidate>| {
        add_route(&mut model, Route { key: key(host, path), candidates });
    };
    let all = |last: &[(u32, &BackendName)]| {
        vec![
            candidate(std::slice::from_ref(&test), &[(1, &three)]),
            candidate(&[header("always")], &[(1, &two)]),
            candidate(&[header("never")], &[(1, &one)]),
            candidate(&[cookie("always")], &[(1, &two)]),
            candidate(&[], last),
        ]
    };
    add(exact_host("a.test"), prefix(""), all(&[(1, &one)]));
    add(exact_host("a.test"), prefix("/split"), all(&[(3, &one), (1, &two), (0, &three)]));
    add(exact_host("a.test"), exact("/nothing"), vec![candidate(&[], &[(0, &one), (0, &two)])]);
    add(exact_host("only.test"), prefix(""), vec![candidate(&[cookie("always")], &[(1, &two)])]);
    add(
        exact_host("r.test"),
        prefix(""),
        vec![candidate(&[header("always")], &[(1, &three)]), candidate(&[], &[(1, &one)])],
    );
    add(exact_host("r.test"), prefix("/r/9"), vec![candidate(&[], &[(1, &three)])]);
    add(exact_host("r.test"), exact("/r/8"), vec![candidate(&[], &[(1, &default)])]);
    add(exact_host("r.test"), regex("/r/[0-9]+"), vec![candidate(&[], &[(1, &two)])]);
    add(
        exact_host("r.test"),
        regex("/r/.*"),
        vec![candidate(&[header("always")], &[(1, &default)]), candidate(&[], &[(1, &three)])],
    );
    add(exact_host("r.test"), regex("/split[0-9]"), vec![candidate(&[], &[(1, &one), (7, &two)])]);
    add(HostMatch::Wildcard("w.test".into()), regex("/(a|b)/c$"), vec![candidate(&[], &[(1, &one)])]);
    add(HostMatch::Any, regex("/any.+"), vec![candidate(&[], &[(1, &two)])]);
    add(HostMatch::Default, prefix(""), vec![candidate(&[], &[(1, &default)])]);
    for (host, port) in [("p.test", Some(8443)), ("q.test", None)] {
        let mut candidates =
            vec![candidate(&[cookie("always")], &[(1, &two)]), candidate(&[], &[(1, &one), (1, &two)])];
        for candidate in &mut candidates {
            candidate.filters = vec![Filter::RedirectToHttps { status: 307, port }];
        }
        add(exact_host(host), prefix(""), candidates);
    }
    add_roots(&mut model);
    add_needs(&mut model);
    let haproxy = HaProxy::start(branch, &mut model);

    let headers: [&[(&str, &str)]; 9] = [
        &[],
        &[("X-Canary", "always")],
        &[("X-Canary", "never"), ("Cookie", "can.ary=always")],
        &[("X-Canary", "maybe, always")],
        &[("X-Canary", "never"), ("X-Canary", "always")],
        &[("Cookie", "a=b; can.ary=always")],
        &[("Cookie", "xcan.ary=always; can.ary=no")],
        &[("Cookie", "can_ary=always")],
        &[("X-Canary", "always|x"), ("X-Canary", "always")],
    ];
    let paths = [
        "/",
        "/x-beta",
        "/split",
        "/split/x",
        "/split/x-beta",
        "/split5",
        "/nothing",
        "/r",
        "/r/",
        "/r/1",
        "/r/8",
        "/r/9",
        "/r/9/x",
        "/R/1",
        "/x/r/1",
        "/a/c",
        "/b/c",
        "/a/c/",
        "/any",
        "/anything",
        "/.well-known/acme-challenge/x",
    ];
    let hosts =
        ["a.test", "only.test", "r.test", "x.w.test", "w.test", "rxtest", "unknown", "p.test", "q.test"];
    for host in hosts {
        for path in paths {
            for headers in headers {
                let expected = resolved(&model, host, path, headers);
                let found = get(&haproxy, host, path, headers);
                assert!(
                    expected.contains(&found),
                    "HAProxy {branch}, {host}{path} {headers:?}: {found}, not {expected:?}"
                );
            }
        }
    }
    let drawn: Vec<String> = (0..200).map(|_| get(&haproxy, "a.test", "/split", &[])).collect();
    let twos = drawn.iter().filter(|name| *name == "two").count();
    assert!((15..=90).contains(&twos), "HAProxy {branch}: a quarter of 200, not {twos}");
    // Names that a client cannot have by itself reach nothing.
    assert_eq!(get(&haproxy, "r.test|", "/r/1", &[]), "400", "HAProxy {branch}");
}

/// What the parsers let pass is what every HAProxy takes without a warning: it is checked at the start.
fn every_test_and_expression_that_passes_loads(branch: &str) {
    const TESTS: [&str; 40] = [
        "cookie(a) -m found",
        "cook(a) x",
        "req.cook(a) -m beg x y",
        "cook_beg(a) x",
        "cook_cnt(a) gt 1",
        "req.cook_cnt(a) 1:3",
        "hdr(a) -i x",
        "hdr(a) -m ip 10.0.0.0/8 -i",
        "req.hdr(a) -m dom x.y",
        "req.fhdr(a) -m dir x",
        "hdr_end(a) -- -x",
        "hdr_cnt(a) ge 2 4",
        "req.hdr_cnt(a) lt 2",
        "url_param(a) -m sub x",
        "urlp_len(a) gt 5",
        "urlp(a) x",
        "path_dir a b",
        "path_dom a",
        "path_len le 7",
        "path,url_dec,lower,length 5",
        "path -m found",
        "path \\$HOME \"$HOME\" '%[x]' \"a'b\" 'a\"b' 'a\\b' 'a b' '#' ;x {x} [x] (x) a,b \\ \\# \\\\ %",
        "path_reg ^/(?:a|b)[0-9]{1,3}[^/x-z]+?\\.(?!html$).*$ \\bx\\B",
        "url_reg -i '^/a\\d++-?b'",
        "url_beg /a",
        "query -m found",
        "query,upper A=1",
        "method POST PUT",
        "method GET",
        "method PURGE POST",
        "req.ver 1.1",
        "src 10.0.0.0/8 2001:db8::/32 ::1",
        "src -m found",
        "ssl_fc",
        "ssl_fc 0",
        "ssl_fc -m found",
        "rand(100) lt 25",
        "rand(1000000),mod(7) 0 1 2:3",
        "rand(5) -m found",
        "path -m str -- -f /etc/passwd -i",
    ];
    let regexes = [
        "/",
        "/a{0,255}",
        "/[]a]",
        "/[-a-z_.\\]\\[]*",
        "/(a++)+",
        "/(((((((((((((((a)))))))))))))))",
        "/[\\w-]+\\$",
        "/()|",
        "/~%[0-9A-F]{2}",
    ];
    let mut model = empty();
    model.default_certificate = pem(&["default.test"]).0;
    let (mut passed, mut refused) = (0, Vec::new());
    for text in TESTS {
        let Ok(test) = expression(text) else {
            refused.push(text);
            continue;
        };
        passed += 1;
        let test = Condition::Expression(Expression(test.words().to_vec()));
        let path = prefix(&format!("/{passed}"));
        let candidates = vec![candidate(&[test], &[(1, &BackendName::fixed(503))])];
        add_route(&mut model, Route { key: key(exact_host("a.test"), path), candidates });
    }
    assert_eq!(refused, ["hdr(a) -m ip 10.0.0.0/8 -i"], "`-m ip` is not for text");
    for text in regexes.into_iter().filter(|text| regex_check(text).is_ok()) {
        add_route(
            &mut model,
            route(key(exact_host("r.test"), regex(text)), Some(&BackendName::fixed(503)), &[]),
        );
    }
    add_roots(&mut model);
    add_needs(&mut model);
    let haproxy = HaProxy::start(branch, &mut model);
    assert_eq!(get(&haproxy, "r.test", "/(", &[]), "503", "HAProxy {branch}");
}
