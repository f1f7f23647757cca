//! Error pages: HAProxy's own errors, and the answers of the controller's own backends.

use super::{config_map, until_closed};
use crate::support::client::get_tls;
use crate::support::manifests::{ingress, service};
use crate::support::{Bed, Branch, until};

async fn until_page(bed: &Bed, host: &str, status: u16, body: &str) {
    until(&format!("{body} for {host}"), || async {
        let answer = crate::support::client::get(bed.http(), host, "/").await?;
        let expected = body.len().to_string();
        match answer.header("content-length") {
            Some(length) if answer.body == body && answer.status == status && length == expected => Ok(()),
            _ => Err(format!("{answer:?}")),
        }
    })
    .await;
}

on_every_branch!(
    error_pages_of_users,
    ["--configmap-errorfiles=default/pages", "--reload-interval=10ms"],
    |bed| async move {
        bed.put(
            "app.yaml",
            &(service("empty")
                + &ingress(
                    "a",
                    &[("empty.test", "Prefix", "/", "empty"), ("gone.test", "Prefix", "/", "gone")],
                )),
        );
        bed.until_status("empty.test", "/", 503).await;
        let whole = "HTTP/1.0 503 Back soon\nX-Reason: tired\nContent-Length: 7\n\n{\"why\": \"tired\"}";
        let big = "x".repeat(14_800);
        let pages = [
            ("404", "<h1>nothing here \u{2013} %[path] $HOME 'x' \"y\"</h1>"),
            ("503.http", whole),
            ("400", "bad"),
            ("408.html", big.as_str()),
            ("414", "not on all versions"),
            ("502", &"y".repeat(16_000)),
            ("504", "HTTP/1.1 504 Late\nno header\n\nbody"),
            ("readme", "x"),
        ];
        // Debug text of Rust is YAML but for this escape.
        let text = config_map("pages", &pages).replace("\\u{2013}", "\\u2013");
        bed.put("pages.yaml", &text);
        until_page(&bed, "other.test", 404, pages[0].1).await;
        until_page(&bed, "empty.test", 503, "{\"why\": \"tired\"}").await;
        until_page(&bed, "gone.test", 503, "{\"why\": \"tired\"}").await;
        let answer = bed.get("empty.test", "/").await;
        assert_eq!(answer.header("x-reason"), Some("tired"));
        let answer = bed.get("other.test", "/").await;
        assert_eq!(answer.header("cache-control"), Some("no-cache"));
        assert_eq!(answer.header("content-type"), Some("text/html; charset=utf-8"));
        let (answer, _) = get_tls(bed.https(), "other.test", "/").await.unwrap();
        assert_eq!(answer.body, pages[0].1);
        let bad = until_closed(bed.http(), b"GET / HTTP/1.1\r\nno header\r\n\r\n").await.unwrap();
        // From 2.4 to 3.0 what is no request at all gets HAProxy's built-in page, whatever the configuration says.
        let own = bed.branch < Branch(2, 4) || bed.branch > Branch(3, 0);
        assert!(bad.starts_with("HTTP/1.1 400") && bad.ends_with("\r\n\r\nbad") == own, "{bad}");
        for (key, reason) in [
            ("414", "HAProxy has pages for"),
            ("502", "16"),
            ("504", "is no header"),
            ("readme", "HAProxy has pages for"),
        ] {
            bed.until_logged(&["error-page-invalid", &format!("ConfigMap default/pages, {key}"), reason])
                .await;
        }
        // The pages on disk are those that are used.
        let files = std::fs::read_dir(bed.path("etc/errors")).unwrap().count();
        assert_eq!(files, 4);

        // Another page, and none.
        bed.put("pages.yaml", &config_map("pages", &[("404", "another")]));
        until_page(&bed, "other.test", 404, "another").await;
        until("HAProxy's own 503", || async {
            let answer = crate::support::client::get(bed.http(), "gone.test", "/").await?;
            if answer.body.contains("no endpoints") { Ok(()) } else { Err(answer.body) }
        })
        .await;
        bed.remove("pages.yaml");
        until_page(&bed, "other.test", 404, "default backend - 404").await;
        bed.proves(&["configmap-errorfiles"]);
    }
);
