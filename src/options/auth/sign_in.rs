//! `auth-signin`.

use std::sync::Arc;

use super::url::is_url_byte;
use crate::options::{Chapter, Effect, Entry, Key, Scope, Wrong};

/// Where clients without valid credentials are sent: a URL with placeholders in braces.
pub static AUTH_SIGNIN: Key<Arc<str>> = Key {
    entry: Entry {
        name: "auth-signin",
        aliases: &[],
        chapter: Chapter::Access,
        scopes: &[Scope::Service, Scope::Ingress, Scope::ConfigMap],
        allowed: "a URL (`http://`, `https://`, or a path of the same host) that may hold `$scheme`, `$host`, `$http_host`, \
                  `$request_uri`, `$escaped_request_uri`, `$uri` and `%[path]`",
        default: "none: a 401 of the service is passed on",
        docs: "When the service of `auth-url` answers 401, clients are redirected there (302) with the cookies that it set. \
               `$request_uri` is the original path with query, `$uri` and `%[path]` the path alone, `$http_host` the host \
               with port as the client wrote it; `$pass_access_scheme` and `$best_http_host` are other names for `$scheme` and \
               `$http_host`. Unless a placeholder stands behind `?` already, `rd=` with the escaped original URL is appended.",
        example: "https://sso.example.org/oauth2/start?rd=$scheme://$http_host$escaped_request_uri",
        effect: Effect::Reload,
    },
    parse,
};

/// As ingress-nginx (and the last one as the haproxy-ingress project) writes them, and as the script knows them. A name that
/// another one starts with comes behind it.
const PLACEHOLDERS: [(&str, &str); 9] = [
    ("$pass_access_scheme", "{scheme}"),
    ("$scheme", "{scheme}"),
    ("$best_http_host", "{httphost}"),
    ("$http_host", "{httphost}"),
    ("$host", "{host}"),
    ("$escaped_request_uri", "{escapeduri}"),
    ("$request_uri", "{uri}"),
    ("$uri", "{path}"),
    ("%[path]", "{path}"),
];

fn parse(text: &str) -> Result<Arc<str>, Wrong> {
    const LONGEST: usize = 2048;
    if text.len() > LONGEST {
        return Err(Wrong::because("it is longer than 2048 bytes"));
    }
    let starts = ["https://", "http://", "$scheme://", "$pass_access_scheme://"];
    let absolute = starts.iter().find_map(|start| text.strip_prefix(start));
    if absolute.is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '?', '#']))
        || (absolute.is_none() && (!text.starts_with('/') || text.starts_with("//")))
    {
        return Err(Wrong::PLAIN);
    }
    let (mut template, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(c) = rest.chars().next() {
        if let Some((name, placeholder)) = PLACEHOLDERS.iter().find(|(name, _)| rest.starts_with(name)) {
            rest = &rest[name.len()..];
            if name.starts_with('$') && rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_') {
                return Err(Wrong::because(format!("there is no placeholder that starts with `{name}`")));
            }
            template.push_str(placeholder);
            continue;
        }
        match c {
            '$' => return Err(Wrong::because("there is no such placeholder behind `$`")),
            '%' if rest.starts_with("%[") => {
                return Err(Wrong::because("`%[path]` is the only expression of HAProxy that is allowed"));
            }
            '#' => return Err(Wrong::because("a fragment (`#`) is not allowed")),
            c if c.is_ascii() && u8::try_from(c).is_ok_and(is_url_byte) => template.push(c),
            c => return Err(Wrong::because(format!("`{}` is not allowed", c.escape_debug()))),
        }
        rest = &rest[c.len_utf8()..];
    }
    let query = template.split_once('?').map(|(_, query)| query);
    let has_rd = query.is_some_and(|query| query.split('&').any(|part| part.starts_with("rd=")));
    if !has_rd && !query.is_some_and(|query| query.contains('{')) {
        template.push_str(match query {
            None => "?",
            Some("") => "",
            Some(_) => "&",
        });
        template.push_str("rd={escapedurl}");
    }
    Ok(template.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_as_users_write_them() {
        for (text, template) in [
            ("https://sso.example.org/start", "https://sso.example.org/start?rd={escapedurl}"),
            ("https://sso.example.org/start?", "https://sso.example.org/start?rd={escapedurl}"),
            ("https://sso.example.org/?a=b", "https://sso.example.org/?a=b&rd={escapedurl}"),
            (
                "https://$host/oauth2/start?rd=$escaped_request_uri",
                "https://{host}/oauth2/start?rd={escapeduri}",
            ),
            ("https://a/?rd=$scheme://$http_host$request_uri", "https://a/?rd={scheme}://{httphost}{uri}"),
            (
                "https://a/?next=$pass_access_scheme://$best_http_host$uri",
                "https://a/?next={scheme}://{httphost}{path}",
            ),
            ("$scheme://a/start?rd=%[path]", "{scheme}://a/start?rd={path}"),
            ("/oauth2/start?rd=/fixed%20path", "/oauth2/start?rd=/fixed%20path"),
        ] {
            assert_eq!(parse(text).as_deref(), Ok(template), "{text}");
        }
    }

    #[test]
    fn wrong_values() {
        let long = format!("https://a/{}", "x".repeat(3000));
        for text in [
            "",
            "sso",
            "//evil",
            "ftp://a",
            "https://",
            "https:///a",
            "https://a/#/x",
            "https://a/ b",
            "https://a/\nb",
            "https://a/\"",
            "https://a/{uri}",
            "https://a/$unknown",
            "https://a/$uris",
            "https://a/%[src]",
            "https://a/\0",
            "https://a/ä",
            "https://a/\\",
            "https://a/`",
            "http-request deny",
            &long,
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
