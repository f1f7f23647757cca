//! Files and back.

use std::collections::BTreeMap;

use super::*;

fn written(texts: &Texts) -> BTreeMap<FileId, Bytes> {
    let volumes = Volumes::default();
    texts.files().into_iter().map(|id| (id.clone(), texts.file(&id, &volumes).unwrap())).collect()
}

fn read(files: &BTreeMap<FileId, Bytes>) -> Result<Parsed, ParseError> {
    let lists = files.keys().filter_map(|id| match id {
        FileId::List(name) => Some(name.clone()),
        _ => None,
    });
    Texts::parse(|id| files.get(id).cloned(), lists)
}

/// These texts, written and read back.
pub(super) fn parsed(texts: &Texts) -> Texts {
    read(&written(texts)).unwrap().texts
}

#[test]
fn the_mark_stands_first_in_global() {
    let texts = rendered("3.2", &empty(), &Texts::default());
    let main = String::from_utf8(written(&texts)[&FileId::Main].to_vec()).unwrap();
    let start = format!("global\n  description outrigger-{}\n  log stdout", texts.generation());
    assert!(main.starts_with(&start), "{main}");
}

#[test]
fn the_generation_is_about_what_only_a_reload_changes() {
    let mut model = empty();
    let name = add_backend(&mut model, web(&[("10.0.0.1", ServerState::Active)]));
    let before = rendered("3.2", &model, &Texts::default()).generation();
    add_backend(&mut model, web(&[("10.0.0.2", ServerState::Active)]));
    add_route(&mut model, route(key(exact_host("a.test"), prefix("")), Some(&name), &[]));
    add_certificate(&mut model, certificate("ns/a", Bytes::from_static(b"1"), &["a.test"]));
    assert_eq!(rendered("3.2", &model, &Texts::default()).generation(), before);
    let mut least = web(&[("10.0.0.2", ServerState::Active)]);
    least_conn(&mut least);
    add_backend(&mut model, least);
    assert_ne!(rendered("3.2", &model, &Texts::default()).generation(), before);
}

#[test]
fn a_backend_stands_in_its_shard_only() {
    let mut model = empty();
    let name = add_backend(&mut model, web(&[("10.0.0.1", ServerState::Active)]));
    let files = written(&rendered("3.2", &model, &Texts::default()));
    let holds = |id: &&FileId| {
        String::from_utf8_lossy(&files[*id]).contains("\n  server 10.0.0.1:80 10.0.0.1:80 id ")
    };
    let holding: Vec<FileId> = files.keys().filter(holds).cloned().collect();
    assert_eq!(holding, Unit::Backend(name).files());
}

#[test]
fn damaged_files_are_refused() {
    let files = written(&rendered("3.2", &empty(), &Texts::default()));
    let mut missing = files.clone();
    missing.remove(&FileId::Shard(7));
    assert_eq!(read(&missing), Err(ParseError::Missing(FileId::Shard(7))));
    let mut cut = files.clone();
    let main = cut[&FileId::Main].clone();
    cut.insert(FileId::Main, main.slice(..main.len() - 40));
    assert_eq!(read(&cut), Err(ParseError::Damaged(FileId::Main)));
    let mut foreign = files;
    let id = FileId::Map(MapId::Exact);
    foreign.insert(id.clone(), outrigger_init::seal("key\n".to_owned()).into());
    assert_eq!(read(&foreign), Err(ParseError::Line(id, 1)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn parsing_what_was_rendered_is_the_identity(model in any_model(), branch in prop::sample::select(&BRANCHES[..])) {
        let texts = rendered(branch, &model, &Texts::default());
        let parsed = read(&written(&texts)).unwrap();
        prop_assert_eq!(&parsed.texts, &texts);
        prop_assert_eq!(parsed.generation, texts.generation());
        // And once more, but for the PEMs, which are not read.
        prop_assert_eq!(parsed.texts.generation(), texts.generation());
    }
}
