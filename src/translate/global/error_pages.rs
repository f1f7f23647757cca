//! Error pages of users: the ConfigMap that `--configmap-errorfiles` names.
//!
//! HAProxy 2.4 to 3.0 answers what is no whole request (400, 408 before the end of the header) with its built-in page all the
//! same.

use bytes::Bytes;

use super::Context;
use crate::cluster::{Kind, Origin};
use crate::model::{Asset, AssetKind, Global};
use crate::problem::{Code, Problem, Severity, excerpt};
use crate::translate::notes::Notes;

/// What every branch has a page for (2.2 to 3.4, tried), with the reason phrases.
const STATUSES: [(u16, &str); 17] = [
    (200, "OK"),
    (400, "Bad Request"),
    (401, "Unauthorized"),
    (403, "Forbidden"),
    (404, "Not Found"),
    (405, "Method Not Allowed"),
    (407, "Proxy Authentication Required"),
    (408, "Request Timeout"),
    (410, "Gone"),
    (413, "Payload Too Large"),
    (421, "Misdirected Request"),
    (425, "Too Early"),
    (429, "Too Many Requests"),
    (500, "Internal Server Error"),
    (502, "Bad Gateway"),
    (503, "Service Unavailable"),
    (504, "Gateway Timeout"),
];

/// A response must fit into one buffer of HAProxy but for the part that it keeps free (16 kB less 1 kB), with about eight
/// bytes of its own for each header.
const LARGEST: usize = 15_000;
const MOST_HEADERS: usize = 32;

/// Reads the ConfigMap.
pub(super) fn read(context: &Context<'_>, global: &mut Global, notes: &mut Notes) {
    let Some(name) = &context.inputs.settings.error_files else { return };
    let Some(config_map) = context.inputs.snapshot.config_maps.get(name) else { return };
    let pages = &mut global.error_pages.pages;
    for (key, value) in &config_map.data {
        let page = status_of(key).and_then(|(status, reason)| {
            if pages.contains_key(&status) {
                return Err(format!("there is another page for {status}"));
            }
            Ok((status, response(status, reason, value)?))
        });
        match page {
            Ok((status, response)) => {
                let asset = Asset::new(AssetKind::ErrorPage, &status.to_string(), Bytes::from(response));
                pages.insert(status, asset);
            }
            Err(reason) => notes.problems.push(Problem {
                origin: Origin::object(Kind::ConfigMap, name.clone()).at(key.clone()),
                code: Code::ErrorPageInvalid,
                severity: Severity::Error,
                message: format!("the error page cannot be used: {reason}"),
                hint: "name a status as `503`, and give it an HTML body, or a response that begins with `HTTP/1.1 503 …`"
                    .to_owned(),
            }),
        }
    }
}

/// The status that an entry is for: `503`, `503.http`, `503.html`.
fn status_of(key: &str) -> Result<(u16, &'static str), String> {
    let number = key.split_once('.').map_or(key, |(number, _)| number);
    let known = STATUSES.into_iter().find(|(status, _)| status.to_string() == number);
    known.ok_or_else(|| {
        let all: Vec<String> = STATUSES.iter().map(|(status, _)| status.to_string()).collect();
        format!("HAProxy has pages for {}", all.join(", "))
    })
}

/// A whole response, from one or from a body.
fn response(status: u16, reason: &str, text: &str) -> Result<String, String> {
    if text.trim().is_empty() {
        return Err("it is empty".to_owned());
    }
    let response = if text.starts_with("HTTP/") {
        whole(text)?
    } else {
        let head = format!("HTTP/1.1 {status} {reason}");
        put_together(&head, &["Cache-Control: no-cache", "Content-Type: text/html; charset=utf-8"], text)
    };
    if response.len() > LARGEST {
        return Err(format!("it has {} bytes with its headers, and HAProxy takes {LARGEST}", response.len()));
    }
    Ok(response)
}

/// Checks a response and writes it anew: a wrong length, or a line that is no header, would refuse the whole configuration.
fn whole(text: &str) -> Result<String, String> {
    let text = text.replace("\r\n", "\n");
    let (head, body) = text.split_once("\n\n").unwrap_or_else(|| (text.trim_end(), ""));
    let mut lines = head.lines();
    let first = lines.next().unwrap_or_default();
    let mut words = first.splitn(3, ' ');
    let version = words.next().unwrap_or_default();
    let status = words.next().and_then(|status| status.parse::<u16>().ok());
    let reason = words.next().unwrap_or_default();
    let (Some(status @ 200..=599), "HTTP/1.0" | "HTTP/1.1") = (status, version) else {
        return Err("its first line is not like `HTTP/1.1 503 Service Unavailable`".to_owned());
    };
    if !printable(reason) {
        return Err("its first line has control characters or is not ASCII".to_owned());
    }
    let mut headers = Vec::new();
    for line in lines {
        let (name, value) = line
            .split_once(':')
            .filter(|(name, value)| crate::options::value::header_name(name).is_ok() && printable(value))
            .ok_or_else(|| format!("`{}` is no header", excerpt(line, 60)))?;
        // Lengths are ours to say, and connections HAProxy's.
        let ours = ["content-length", "transfer-encoding", "connection", "keep-alive"];
        if !ours.contains(&name.to_ascii_lowercase().as_str()) {
            headers.push(format!("{name}: {}", value.trim()));
        }
    }
    if headers.len() > MOST_HEADERS {
        return Err(format!("it has more than {MOST_HEADERS} headers"));
    }
    let headers: Vec<&str> = headers.iter().map(String::as_str).collect();
    Ok(put_together(&format!("HTTP/1.1 {status} {reason}"), &headers, body))
}

fn printable(text: &str) -> bool {
    text.bytes().all(|b| b == b' ' || b.is_ascii_graphic())
}

fn put_together(head: &str, headers: &[&str], body: &str) -> String {
    let headers: String = headers.iter().flat_map(|header| [header, "\r\n"]).collect();
    format!("{head}\r\n{headers}Content-Length: {}\r\n\r\n{body}", body.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_named_by_status() {
        for key in ["503", "503.http", "503.html"] {
            assert_eq!(status_of(key).map(|(status, _)| status), Ok(503), "{key}");
        }
        for key in ["", "5o3", "0503", "503x", "414", "599", "error", ".503", "-1"] {
            assert!(status_of(key).is_err(), "{key}");
        }
    }

    #[test]
    fn bodies_get_headers() {
        assert_eq!(
            response(503, "Service Unavailable", "<h1>\u{e4}</h1>").unwrap(),
            "HTTP/1.1 503 Service Unavailable\r\nCache-Control: no-cache\r\nContent-Type: text/html; charset=utf-8\r\n\
             Content-Length: 11\r\n\r\n<h1>\u{e4}</h1>"
        );
    }

    #[test]
    fn responses_are_written_anew() {
        let text = "HTTP/1.0 503 Gone fishing\nContent-Length: 99\nconnection: close\nX-Y:  z \n\nbody\n";
        assert_eq!(
            response(503, "x", text).unwrap(),
            "HTTP/1.1 503 Gone fishing\r\nX-Y: z\r\nContent-Length: 5\r\n\r\nbody\n"
        );
        assert!(
            response(404, "x", "HTTP/1.1 404\r\n\r\n")
                .unwrap()
                .starts_with("HTTP/1.1 404 \r\nContent-Length: 0")
        );
        for bad in [
            "",
            " \n",
            "HTTP/2 503 x\n\n",
            "HTTP/1.1 abc\n\n",
            "HTTP/1.1 100 x\n\n",
            "HTTP/1.1 503 x\nno header\n\n",
            "HTTP/1.1 503 x\na b: c\n\n",
            "HTTP/1.1 503 x\na: \u{1}\n\n",
            "HTTP/1.1 503 \u{e4}\n\n",
            &format!("HTTP/1.1 503 x\n{}\n", "a: b\n".repeat(33)),
            &"x".repeat(LARGEST),
        ] {
            assert!(response(503, "x", bad).is_err(), "{bad}");
        }
    }
}
