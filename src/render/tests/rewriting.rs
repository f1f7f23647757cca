//! What changes requests, and who the client is.

use std::sync::Arc;

use outrigger_init::Volumes;
use proptest::prelude::*;

use super::models::*;
use super::renderer;
use crate::cluster::{Kind, ObjectName, ObjectRef};
use crate::model::policy::rewriting::{Header, PathRewrite, Piece, Redirect, Rewriting, Source};
use crate::model::*;
use crate::plan::Texts;

/// The lines of a backend behind its name, comment and balance.
fn lines(rewriting: Rewriting) -> Vec<String> {
    let mut model = empty();
    let mut backend = backend("ns/web", 80, &[]);
    backend.policy = Arc::new(Policy { rewriting, ..Policy::default() });
    let name = add_backend(&mut model, backend);
    let texts = renderer("3.2").full(&model, &Texts::default());
    let header = &texts.backends.get(&name).unwrap().header;
    header
        .split_terminator('\n')
        .skip(2)
        .filter(|line| !line.contains("balance"))
        .map(|l| l.trim().to_owned())
        .collect()
}

fn main_text(branch: &str, change: impl Fn(&mut Global)) -> String {
    let mut model = empty();
    change(Arc::make_mut(&mut model.global));
    renderer(branch).full(&model, &Texts::default()).main.to_string()
}

fn text(text: &str) -> Vec<Piece> {
    vec![Piece::Text(text.into())]
}

#[test]
fn rules_stand_in_their_order() {
    let rewriting = Rewriting {
        source: Some(Source { header: "X-Real-IP".into(), only_trusted: true }),
        without_forwarded_for: true,
        captures: vec!["src".into(), "path,bytes(0,9)".into()],
        redirect: Some(Redirect { authority: "a.test:81".into(), status: 308 }),
        request_headers: vec![Header {
            name: "X-A".into(),
            value: vec![Piece::Text("50% \"of\" ".into()), Piece::Sample("src".into())],
        }],
        response_headers: vec![Header { name: "X-B".into(), value: text("b") }],
        host: Some("b.test".into()),
        paths: vec![
            PathRewrite { pattern: None, replacement: text("/x") },
            PathRewrite { pattern: Some(r"^/(.*)#\.".into()), replacement: text(r"/\1") },
        ],
    };
    assert_eq!(
        lines(rewriting),
        [
            r#"http-request replace-header X-Forwarded-For "(.*), [^,]*" "\1" if { var(txn.forwarded) -m found }"#,
            "http-request set-src req.hdr_ip(X-Real-IP) if { var(txn.trusted) -m found }",
            "option forwardfor if-none header X-Forwarded-Proto",
            "http-request capture src id 0",
            "http-request capture path,bytes(0,9) id 1",
            "http-request redirect prefix https://a.test:81 code 308 if { req.fhdr(x-forwarded-proto) -m str -i -- https } !{ req.fhdr(host) -m str -i -- a.test:81 }",
            "http-request redirect prefix http://a.test:81 code 308 if !{ req.fhdr(host) -m str -i -- a.test:81 }",
            r#"http-request set-header X-A 50%%\ \"of\"\ %[src]"#,
            "http-request set-header Host b.test",
            "http-request set-path /x",
            r"http-request replace-path ^/(.*)\#\\. /\\1",
            "http-response set-header X-B b",
        ]
    );
}

#[test]
fn a_backend_of_bytes_has_no_rules() {
    let mut model = empty();
    let mut backend = backend("ns/web", 80, &[]);
    let rewriting = Rewriting {
        source: Some(Source { header: "X".into(), only_trusted: false }),
        host: Some("b.test".into()),
        ..Rewriting::default()
    };
    backend.policy = Arc::new(Policy { mode: Mode::Tcp, rewriting, ..Policy::default() });
    let name = add_backend(&mut model, backend);
    let texts = renderer("3.2").full(&model, &Texts::default());
    assert!(!texts.backends.get(&name).unwrap().header.contains("http-request"));
}

#[test]
fn slots_are_as_long_as_the_longest_value_of_any_route() {
    let main = main_text("3.2", |global| {
        let needs = [(0, 9), (0, 128), (1, 9)].map(|(slot, length)| Need::Capture { slot, length });
        global.needs.extend(needs);
        global.clients.request_id = true;
    });
    let slots =
        "  declare capture request len 128\n  declare capture request len 9\n  unique-id-format %[uuid()]\n";
    assert_eq!(main.matches(slots).count(), 2, "{main}");
}

#[test]
fn both_listeners_know_proxies() {
    let list = |key| {
        let name = ObjectName::new("ns", "settings");
        Some(ListName::of(&ObjectRef { kind: Kind::ConfigMap, name }, key))
    };
    let main = main_text("3.2", |global| {
        global.clients.trusted_proxies = list("trusted-proxies");
        global.clients.proxy_protocol = list("proxy-protocol");
    });
    let file = |key| Volumes::default().patterns().join(format!("outrigger-configmap_ns_settings_{key}.lst"));
    for line in [
        format!(
            "  tcp-request connection expect-proxy layer4 if {{ src -f {} }}\n",
            file("proxy-protocol").display()
        ),
        format!(
            "  http-request set-var(txn.trusted) bool(true) if {{ src -f {} }}\n",
            file("trusted-proxies").display()
        ),
        "  http-request del-header X-Forwarded-For unless { var(txn.trusted) -m found }\n".to_owned(),
    ] {
        assert_eq!(main.matches(&line).count(), 2, "{line} in {main}");
    }
}

#[test]
fn before_2_6_the_source_is_set_back_for_each_request() {
    let change = |global: &mut Global| _ = global.needs.insert(Need::SourceFromHeader);
    assert!(main_text("2.2", change).contains("  http-request set-src var(sess.src)\n"));
    assert!(!main_text("2.6", change).contains("set-src"));
}

/// Text with everything that means something to HAProxy.
fn hostile() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        Just("\n  server x 10.0.0.1:1\n".to_owned()),
        Just(" if TRUE".to_owned()),
        Just("\t#\0\\\"'[]!|/;%{}$\u{2028}\r".to_owned()),
        Just("%[env(PATH)]".to_owned()),
        "[a-z ,()]{1,5}",
        any::<String>(),
    ];
    prop::collection::vec(part, 1..4).prop_map(|parts| format!("x{}", parts.concat()))
}

/// How many words HAProxy reads, and whether a comment begins.
fn words(line: &str) -> (usize, bool) {
    let (mut count, mut inside, mut quoted, mut chars) = (0, false, None, line.chars());
    while let Some(c) = chars.next() {
        match (c, quoted) {
            ('\\', None | Some('"')) => _ = chars.next(),
            (c, Some(quote)) if c == quote => quoted = None,
            ('"' | '\'', None) => quoted = Some(c),
            (' ' | '\t', None) => {
                inside = false;
                continue;
            }
            ('#', None) => return (count, true),
            _ => {}
        }
        count += usize::from(!inside);
        inside = true;
    }
    (count, quoted.is_some())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// Nothing that reaches the policy was not parsed; and if it were, it could not be more than a word.
    #[test]
    fn no_value_adds_a_line_or_a_word(values in prop::array::uniform4(hostile())) {
        let [a, b, c, d] = values.map(Arc::<str>::from);
        let header = |name: &Arc<str>| Header {
            name: name.clone(),
            value: vec![Piece::Text(b.clone()), Piece::Sample(c.clone())],
        };
        let found = lines(Rewriting {
            source: Some(Source { header: a.clone(), only_trusted: false }),
            without_forwarded_for: true,
            captures: vec![b.clone()],
            redirect: Some(Redirect { authority: c.clone(), status: 302 }),
            request_headers: vec![header(&d)],
            response_headers: vec![header(&a)],
            host: Some(d.clone()),
            paths: vec![PathRewrite { pattern: Some(a.clone()), replacement: vec![Piece::Text(d.clone())] }],
        });
        let expected = [11, 3, 5, 5, 23, 15, 4, 4, 4, 4];
        prop_assert_eq!(found.len(), expected.len(), "{:#?}", found);
        for (line, expected) in found.iter().zip(expected) {
            prop_assert!(!line.contains(['\n', '\r', '\0']), "{:?}", line);
            prop_assert_eq!(words(line), (expected, false), "{:?}", line);
        }
    }
}
