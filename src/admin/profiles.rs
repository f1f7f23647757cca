//! `/debug/pprof/`, under the names and in the format that `go tool pprof` knows from Go's programs.

use std::fmt::Write;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use hyper::header::{CONTENT_DISPOSITION, HeaderValue};
use hyper::{Method, Request, StatusCode};
use outrigger_profiler::{Profile, Sampling, Unavailable};

use super::listener::{Answer, answer, text};

/// Without `seconds`, as in Go.
const SECONDS: u64 = 30;
/// No profile takes longer.
const LONGEST: u64 = 300;
/// Addresses to be named in one request.
const LARGEST_QUESTION: usize = 1 << 20;

const INDEX: &str = "<!doctype html>
<title>Profiles of outrigger</title>
<h1>Profiles of outrigger</h1>
<ul>
<li><a href=\"/debug/pprof/profile?seconds=30\">profile</a>: CPU time by stack, over <code>seconds</code> (1 to 300, else 30); one at a time
<li><a href=\"/debug/pprof/heap\">heap</a>: memory by the stack that allocated it: what is there now (inuse) and what ever was (alloc)
<li><a href=\"/debug/pprof/cmdline\">cmdline</a>: the command line, separated by NUL
<li><a href=\"/debug/pprof/symbol\">symbol</a>: names of addresses, for pprof itself
</ul>
<pre>go tool pprof -top http://POD:6060/debug/pprof/profile?seconds=10</pre>
";

/// The page that lists the others.
pub(super) fn index() -> Answer {
    answer(StatusCode::OK, "text/html; charset=utf-8", INDEX)
}

/// One of the pages below `/debug/pprof/`.
pub(super) async fn serve(name: &str, request: Request<Incoming>) -> Answer {
    match name {
        "profile" => match seconds(request.uri().query().unwrap_or("")) {
            Some(seconds) => cpu(Duration::from_secs(seconds)).await,
            None => text(
                StatusCode::BAD_REQUEST,
                format!("seconds is a whole number from 1 to {LONGEST}; for example profile?seconds=10"),
            ),
        },
        "heap" => blocking(|| outrigger_profiler::heap().map_err(|error| error.to_string())).await,
        "cmdline" => match std::fs::read("/proc/self/cmdline") {
            Ok(arguments) => text(StatusCode::OK, arguments),
            Err(error) => text(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()),
        },
        "symbol" => symbol(request).await,
        _ => text(StatusCode::NOT_FOUND, "not found; /debug/pprof/ lists the profiles"),
    }
}

fn seconds(query: &str) -> Option<u64> {
    match query.split('&').find_map(|pair| pair.strip_prefix("seconds=")) {
        None => Some(SECONDS),
        Some(number) => number.parse().ok().filter(|seconds| (1..=LONGEST).contains(seconds)),
    }
}

/// Dropped when the client goes away, which stops the sampling.
async fn cpu(time: Duration) -> Answer {
    let sampling = match Sampling::start() {
        Ok(sampling) => sampling,
        Err(error @ Unavailable::Running) => {
            return text(StatusCode::CONFLICT, format!("{error}; try again when it is done"));
        }
        Err(error) => return text(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()),
    };
    tokio::time::sleep(time).await;
    blocking(move || {
        let (profile, lost) = sampling.finish();
        if lost > 0 {
            tracing::warn!(
                lost,
                "the CPU profile is not complete: samples came too close, or there were too many"
            );
        }
        Ok(profile)
    })
    .await
}

/// Names take some hundred milliseconds to find: not on the thread of the controller's loop.
async fn blocking(make: impl FnOnce() -> Result<Profile, String> + Send + 'static) -> Answer {
    let profile = tokio::task::spawn_blocking(move || make().map(|taken| taken.encode())).await;
    match profile {
        Ok(Ok(bytes)) => {
            let mut answer = answer(StatusCode::OK, "application/octet-stream", bytes);
            let file = HeaderValue::from_static("attachment; filename=\"profile.pb\"");
            answer.headers_mut().insert(CONTENT_DISPOSITION, file);
            answer
        }
        Ok(Err(error)) => text(StatusCode::INTERNAL_SERVER_ERROR, error),
        Err(error) => text(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()),
    }
}

/// pprof asks with `GET` whether there are names, and with `POST` for those of `0xADDRESS+0xADDRESS…`.
async fn symbol(request: Request<Incoming>) -> Answer {
    if request.method() != Method::POST {
        return text(StatusCode::OK, "num_symbols: 1\n");
    }
    let Ok(body) = Limited::new(request.into_body(), LARGEST_QUESTION).collect().await else {
        return text(StatusCode::PAYLOAD_TOO_LARGE, "too many addresses in one request");
    };
    let body: Bytes = body.to_bytes();
    let names = tokio::task::spawn_blocking(move || names(&String::from_utf8_lossy(&body))).await;
    text(StatusCode::OK, names.unwrap_or_default())
}

fn names(addresses: &str) -> String {
    let symbols = outrigger_profiler::Symbols::default();
    let mut text = "num_symbols: 1\n".to_owned();
    for word in addresses.trim().split('+') {
        let Some(address) = word.strip_prefix("0x").and_then(|hex| usize::from_str_radix(hex, 16).ok())
        else {
            continue;
        };
        if let Some(line) = symbols.at(address).pop() {
            // Writing to a String cannot fail.
            let _ = writeln!(text, "{word} {}", line.function);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_bounded() {
        assert_eq!(seconds(""), Some(SECONDS));
        assert_eq!(seconds("debug=1&seconds=5"), Some(5));
        for bad in ["seconds=0", "seconds=301", "seconds=", "seconds=-1", "seconds=1.5"] {
            assert_eq!(seconds(bad), None, "{bad}");
        }
    }

    #[test]
    fn addresses_that_have_no_name_are_left_out() {
        assert_eq!(names("0x8+junk"), "num_symbols: 1\n");
        let address = names as *const () as usize;
        let text = names(&format!("0x8+{address:#x}\n"));
        assert!(text.contains(&format!("{address:#x} ")) && text.contains("profiles::names"), "{text}");
    }
}
