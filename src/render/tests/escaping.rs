//! No value, however hostile, adds a line, a word or an entry to any file.

use std::collections::BTreeSet;
use std::sync::Arc;

use outrigger_init::{SHARDS, Volumes};
use proptest::prelude::*;

use super::models::*;
use super::{Renderer, renderer};
use crate::cluster::{Kind, ObjectName, Origin};
use crate::model::*;
use crate::plan::{FileId, MapId, Texts};

/// Text with everything that means something to one of the formats.
fn hostile() -> impl Strategy<Value = String> {
    prop::collection::vec(
        prop_oneof![
            Just("\n".to_owned()),
            Just("\r\n".to_owned()),
            Just("\nbackend x\n".to_owned()),
            Just("\n  server x 10.0.0.1:1\n".to_owned()),
            Just(" ".to_owned()),
            Just("\t#\0\\\"'[]!|/;%{}$\u{2028}\u{85}".to_owned()),
            Just("# end 0000000000000000\n".to_owned()),
            "[a-z.*]{1,5}",
            any::<String>(),
        ],
        0..5,
    )
    .prop_map(|parts| parts.concat())
}

fn lines(texts: &Texts, id: &FileId) -> Vec<String> {
    let file = texts.file(id, &Volumes::default()).unwrap();
    let text = outrigger_init::unseal(std::str::from_utf8(&file).unwrap()).unwrap().to_owned();
    // Whatever HAProxy could take for an end of line.
    text.split(['\n', '\r', '\0']).filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

fn check(renderer: &Renderer, [a, b, c, d]: [String; 4]) -> Result<(), TestCaseError> {
    let mut model = empty();
    let plain = renderer.full(&model, &Texts::default());

    let name = BackendName::parsed(&a);
    let backend = Backend {
        name: name.clone(),
        origin: Origin::object(Kind::Service, ObjectName::new(b.as_str(), c.as_str())).at(d.as_str()),
        policy: Arc::default(),
        servers: [server("10.0.0.1", 80, ServerState::Active)].map(|s| (s.key, s)).into(),
    };
    let shards = |texts: &Texts| -> Vec<String> {
        (0..SHARDS).flat_map(|shard| lines(texts, &FileId::Shard(shard))).collect()
    };
    let expected = {
        let mut model = empty();
        add_backend(&mut model, Backend { name: BackendName::parsed("x"), ..backend.clone() });
        shards(&renderer.full(&model, &Texts::default())).len()
    };
    add_backend(&mut model, backend);
    add_route(&mut model, route(key(exact_host(&b), prefix(&c)), Some(&name), &[]));
    add_route(&mut model, route(key(exact_host(&b), exact(&c)), Some(&name), &[]));
    let hosts = BTreeSet::from([Arc::from(c.as_str()), Arc::from("a.test")]);
    let secret = ObjectName::new(a.as_str(), d.as_str());
    add_certificate(
        &mut model,
        Certificate {
            key: CertificateKey::open(secret),
            key_type: Some(KeyType::Rsa),
            pem: "x".into(),
            hosts,
            check: None,
        },
    );
    let texts = renderer.full(&model, &Texts::default());

    prop_assert_eq!(&texts.main, &plain.main);
    let shards = shards(&texts);
    prop_assert_eq!(shards.len(), expected);
    let sections = shards.iter().filter(|line| !line.starts_with(' ')).count();
    prop_assert_eq!(sections, 1 + plain.backends.size());
    for id in [MapId::Exact, MapId::Prefix] {
        let lines = lines(&texts, &FileId::Map(id));
        prop_assert_eq!(lines.len(), 1);
        prop_assert_eq!(lines[0].split_ascii_whitespace().count(), 2);
        prop_assert!(lines[0].starts_with("web|"));
    }
    let list = lines(&texts, &FileId::CrtList);
    prop_assert_eq!(list.len(), 2);
    let mut words = list[1].split_ascii_whitespace();
    let file = words.next().unwrap();
    prop_assert!(file.starts_with("/var/lib/haproxy/certs/") && file.matches('/').count() == 5, "{}", file);
    prop_assert!(words.all(|filter| !filter.starts_with(['!', '['])));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn no_value_adds_anything(values in prop::array::uniform4(hostile())) {
        check(&renderer("3.2"), values.clone())?;
        check(&renderer("2.2"), values)?;
    }

    #[test]
    fn valid_names_pass_unchanged(name in "[a-z0-9]([-a-z0-9.]{0,20}[a-z0-9])?") {
        use super::super::escape;
        prop_assert_eq!(escape::name(&name), name.as_str());
        prop_assert_eq!(escape::file_name(&name), name.as_str());
        prop_assert_eq!(escape::map_key(&name), name.as_str());
        prop_assert_eq!(escape::sni_filter(&name), Some(name.as_str()));
    }
}
