//! How requests are spread over servers, and what counts for all of them.

use crate::model::policy::Mode;
use crate::model::policy::servers::{Balance, Check, Fetch, HttpVersion, RetryOn, UriPart};
use crate::model::{Capabilities, Policy};
use crate::render::text::Text;
use crate::render::{Paths, escape, server};

/// Key of the hash that becomes the value of a persistence cookie. No secret: the value only has to be the same everywhere.
const COOKIE_KEY: &str = "outrigger";

/// Writes the lines of this family.
pub(super) fn write(text: &mut Text, policy: &Policy, paths: &Paths<'_>) {
    let is_http = policy.mode == Mode::Http;
    let (balance, hashes) = balance(&policy.balance, is_http, paths.capabilities);
    text.line(format_args!("balance {balance}"));
    if hashes {
        // Dynamic servers need one of the dynamic algorithms; hashes are that only when they are consistent (2.6 to 3.4).
        text.line(format_args!("hash-type consistent"));
    }
    let servers = &policy.servers;
    if let Some(persistence) = servers.persistence.as_ref().filter(|_| is_http) {
        let cookie = escape::word(&persistence.cookie);
        if persistence.by_name {
            text.line(format_args!("cookie {cookie} insert indirect nocache"));
        } else {
            text.line(format_args!("cookie {cookie} insert indirect nocache dynamic"));
            text.line(format_args!("dynamic-cookie-key {COOKIE_KEY}"));
        }
    }
    if let Some(check) = &servers.check {
        write_check(text, check);
    }
    match servers.abort_on_close {
        Some(true) => text.lines(&["option abortonclose"]),
        Some(false) => text.lines(&["no option abortonclose"]),
        None => {}
    }
    write_retries(text, policy, paths.capabilities);
    if servers.refused {
        text.lines(if is_http {
            &["http-request deny deny_status 503"]
        } else {
            &["tcp-request content reject"]
        });
    }
    server::write_fixed(text, policy, paths);
}

fn write_check(text: &mut Text, check: &Check) {
    if let Some(http) = &check.http {
        let (version, host) = match http.version {
            HttpVersion::Http10 => ("HTTP/1.0", ""),
            HttpVersion::Http11 => ("HTTP/1.1", " hdr Host localhost"),
        };
        text.line(format_args!("option httpchk"));
        text.line(format_args!(
            "http-check send meth {} uri {} ver {version}{host}",
            http.method.as_str(),
            escape::word(&http.uri)
        ));
    }
    if let Some(timeout) = check.timeout {
        text.line(format_args!("timeout check {timeout}ms"));
    }
}

fn write_retries(text: &mut Text, policy: &Policy, capabilities: Capabilities) {
    let retries = &policy.servers.retries;
    if let Some(count) = retries.count {
        text.line(format_args!("retries {count}"));
    }
    let can = |on: &RetryOn| capabilities.retries_on_refusal() || !matches!(on, RetryOn::Status(401 | 403));
    let on: Vec<&str> = retries.on.iter().filter(|on| can(on)).map(|on| on.as_str()).collect();
    // Layer 7 retries are for HTTP only.
    if !on.is_empty() && policy.mode == Mode::Http {
        text.line(format_args!("retry-on {}", on.join(" ")));
    }
    match retries.redispatch {
        Some(true) => text.lines(&["option redispatch"]),
        Some(false) => text.lines(&["no option redispatch"]),
        None => {}
    }
}

/// The algorithm, and whether it is a hash. What looks into requests has no place in TCP mode.
fn balance(balance: &Balance, is_http: bool, capabilities: Capabilities) -> (String, bool) {
    let name = |name: &str| escape::name(name).into_owned();
    let hash = |text: String| (text, true);
    match balance {
        Balance::LeastConn => ("leastconn".to_owned(), false),
        Balance::First => ("first".to_owned(), false),
        Balance::Random(None) => ("random".to_owned(), false),
        Balance::Random(Some(draws)) => (format!("random({draws})"), false),
        Balance::Source => hash("source".to_owned()),
        Balance::RdpCookie(None) => hash("rdp-cookie".to_owned()),
        Balance::RdpCookie(Some(cookie)) => hash(format!("rdp-cookie({})", name(cookie))),
        Balance::Uri(part) if is_http => hash(uri(*part)),
        Balance::UrlParam { name: param, check_post } if is_http => {
            hash(format!("url_param {}{}", name(param), if *check_post { " check_post" } else { "" }))
        }
        Balance::Header { name: header, domain_only } if is_http => {
            hash(format!("hdr({}){}", name(header), if *domain_only { " use_domain_only" } else { "" }))
        }
        Balance::Hash(key)
            if capabilities.balance_by_expression() && (is_http || key.fetch == Fetch::Source) =>
        {
            hash(format!("hash {key}"))
        }
        Balance::Hash(key) => match &key.fetch {
            Fetch::Source => hash("source".to_owned()),
            Fetch::Header(header) if is_http => hash(format!("hdr({})", name(header))),
            Fetch::UrlParam(param) if is_http => hash(format!("url_param {}", name(param))),
            Fetch::Path if is_http => hash(uri(UriPart { path_only: true, ..UriPart::default() })),
            Fetch::PathAndQuery if is_http => {
                hash(uri(UriPart { whole: true, path_only: true, ..UriPart::default() }))
            }
            Fetch::Url | Fetch::Base if is_http => hash(uri(UriPart { whole: true, ..UriPart::default() })),
            _ => ("roundrobin".to_owned(), false),
        },
        _ => ("roundrobin".to_owned(), false),
    }
}

fn uri(part: UriPart) -> String {
    let UriPart { whole, path_only, len, depth } = part;
    let mut text = "uri".to_owned();
    text.push_str(if whole { " whole" } else { "" });
    text.push_str(if path_only { " path-only" } else { "" });
    text.extend(len.map(|len| format!(" len {len}")));
    text.extend(depth.map(|depth| format!(" depth {depth}")));
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Version;
    use crate::model::policy::servers::{Case, HashKey};

    #[test]
    fn algorithms_as_each_version_and_mode_has_them() {
        let key = |fetch| Balance::Hash(HashKey { fetch, cases: vec![Case::Lower] });
        let check = |algorithm: &Balance, version: &str, is_http, expected: &str| {
            let capabilities = Capabilities::of(Version::parse(version).unwrap()).unwrap();
            let (text, hashes) = balance(algorithm, is_http, capabilities);
            assert_eq!(format!("{text}{}", if hashes { " #" } else { "" }), expected);
        };
        check(&Balance::RoundRobin, "2.2", true, "roundrobin");
        check(&Balance::Random(Some(2)), "2.2", false, "random(2)");
        check(&key(Fetch::Header("x".into())), "2.6", true, "hash req.hdr(x),lower #");
        check(&key(Fetch::Header("x".into())), "2.2", true, "hdr(x) #");
        check(&key(Fetch::Header("x".into())), "3.4", false, "roundrobin");
        check(&key(Fetch::Cookie("x".into())), "2.2", true, "roundrobin");
        check(&key(Fetch::Source), "2.2", false, "source #");
        check(&Balance::Uri(UriPart { depth: Some(2), ..UriPart::default() }), "2.2", true, "uri depth 2 #");
        check(&Balance::Uri(UriPart::default()), "2.2", false, "roundrobin");
    }
}
