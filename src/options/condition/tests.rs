use super::*;

fn shown(text: &str) -> String {
    expression(text).map_or_else(|wrong| format!("! {}", wrong.0), |found| found.words().join(" "))
}

#[test]
fn tests_are_made_plain() {
    for (text, words) in [
        ("cookie(staging) -m found", "req.cook(staging) -m found"),
        ("hdr(X-Test) yes no", "req.hdr(X-Test) -m str -- yes no"),
        ("hdr_sub(x) -i FOO", "req.hdr(x) -i -m sub -- FOO"),
        ("path_reg path-in-bug-repro$", "path -m reg -- path-in-bug-repro$"),
        ("path_beg -- -x", "path -m beg -- -x"),
        ("url_param(a),lower,length gt 3", "url_param(a),lower,length -m int gt 3"),
        ("path -m len 1:5", "path -m len 1:5"),
        ("rand(100) lt 25", "rand(100) -m int lt 25"),
        ("rand(100),mod(7) 0", "rand(100),mod(7) -m int 0"),
        ("src 10.0.0.0/8 192.0.2.1", "src -m ip 10.0.0.0/8 192.0.2.1"),
        ("ssl_fc", "ssl_fc -m bool"),
        ("ssl_fc true", "ssl_fc -m bool 1"),
        ("method POST PUT", "method POST PUT"),
        ("req.fhdr(a) 'x y' \"z\\\" #\" a\\ b c\\.d", "req.fhdr(a) -m str -- x y z\" # a b c\\.d"),
    ] {
        assert_eq!(shown(text), words, "{text}");
    }
}

#[test]
fn what_is_not_known_is_refused() {
    let long = format!("path {}", "x".repeat(2000));
    let many = format!("path {}", "x ".repeat(17));
    for text in [
        "",
        " ",
        "cookie",
        "cookie()",
        "cookie(a b)",
        "cookie(a",
        "cookie(a,b) x",
        "cookie(a)b x",
        "cookie(a) -m",
        "cookie(a) -m found x",
        "cookie(a) -m int 1",
        "cookie(a) -f /etc/passwd",
        "cookie(a) -M -f x",
        "cookie(a)",
        "path }",
        "path { x",
        "path ''",
        "path a } or { always_true",
        "path a\nuse_backend b",
        "path a\r",
        "path a\0",
        "path a # b",
        "path \"a",
        "path é",
        "path_reg (",
        "path_reg (a+)+",
        "lua.x a",
        "env(HOME) a",
        "var(txn.host) a",
        "nbsrv(x) gt 1",
        "path,map(/etc/passwd) a",
        "path,lua.x a",
        "path,regsub(a,b) c",
        "path(a) b",
        "method -m reg P.*",
        "method -m found",
        "method post",
        "method,lower post",
        "rand(0) 1",
        "rand(x) 1",
        "rand(100) ge",
        "rand(100) 1 ge",
        "rand(100) x",
        "rand(100),lower x",
        "src 10.0.0.0/33",
        "src example.org",
        "src a,b",
        "ssl_fc maybe",
        "ssl_fc -i -u x",
        "!path a",
        "path a || path b",
        &long,
        &many,
    ] {
        if text.contains("||") || text == "path { x" {
            // Words like any other: they end nothing.
            assert!(expression(text).is_ok(), "{text:?}");
            continue;
        }
        assert!(expression(text).is_err(), "{text:?}: {}", shown(text));
    }
}

#[test]
fn plain_comparisons_are_known() {
    let plain = |text| expression(text).unwrap().plain().cloned();
    assert_eq!(plain("cookie(a) b c"), Some(Plain::Cookie("a".into(), vec!["b".into(), "c".into()])));
    assert_eq!(plain("req.fhdr(X-A) -m str b"), Some(Plain::Header("x-a".into(), vec!["b".into()])));
    for text in
        ["cookie(a) -i b", "cookie(a),lower b", "cookie(a) -m beg b", "hdr(a) b", "cookie(a) 'b c'", "path a"]
    {
        assert_eq!(plain(text), None, "{text}");
    }
}
