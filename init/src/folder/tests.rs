use std::time::{Duration, Instant};

use super::*;
use crate::scratch::{PEM, Scratch, generate};
use crate::{Families, seed};

const BOTH: Families = Families { ipv4: true, ipv6: true };

/// Generates a complete configuration, does something to it, and expects it to be incomplete because of a file.
fn flawed(damage: impl FnOnce(&Volumes) -> PathBuf) -> String {
    let scratch = Scratch::new();
    let volumes = scratch.volumes();
    generate(&volumes, "one", 2);
    assert_eq!(state_of(&volumes), FolderState::Complete);
    let damaged = damage(&volumes);
    match state_of(&volumes) {
        FolderState::Incomplete { path, why } => {
            assert_eq!(path, damaged, "{why}");
            why
        }
        state => panic!("{state:?} after damage to {}", damaged.display()),
    }
}

fn cut(path: PathBuf, by: u64) -> PathBuf {
    let file = File::options().write(true).open(&path).unwrap();
    file.set_len(file.metadata().unwrap().len() - by).unwrap();
    path
}

fn empty(path: PathBuf) -> PathBuf {
    fs::write(&path, "").unwrap();
    path
}

fn remove(path: PathBuf) -> PathBuf {
    fs::remove_file(&path).unwrap();
    path
}

#[test]
fn an_empty_folder_and_other_peoples_files_are_empty() {
    let scratch = Scratch::new();
    let volumes = scratch.volumes();
    fs::write(volumes.config.join("readme.txt"), "x").unwrap();
    assert_eq!(state_of(&volumes), FolderState::Empty);
}

#[test]
fn a_seed_is_a_seed_only_when_whole_and_alone() {
    let scratch = Scratch::new();
    let volumes = scratch.volumes();
    let text = seed(1042, BOTH);
    fs::write(volumes.main_file(), &text).unwrap();
    assert_eq!(state_of(&volumes), FolderState::Seed);

    fs::write(volumes.shard_file(7), "").unwrap();
    let why = "is left beside a seed".to_owned();
    assert_eq!(state_of(&volumes), FolderState::Incomplete { path: volumes.shard_file(7), why });
    fs::remove_file(volumes.shard_file(7)).unwrap();

    fs::write(volumes.main_file(), &text[..text.len() / 2]).unwrap();
    assert!(
        matches!(state_of(&volumes), FolderState::Incomplete { path, .. } if path == volumes.main_file())
    );
}

#[test]
fn a_generated_configuration_is_complete_until_any_of_its_files_is_damaged() {
    for by in [1, 10, 30] {
        assert_eq!(flawed(|v| cut(v.main_file(), by)), "was cut off or altered");
        assert_eq!(flawed(|v| cut(v.shard_file(200), by)), "was cut off or altered");
        assert_eq!(flawed(|v| cut(v.maps().join("exact.map"), by)), "was cut off or altered");
        assert_eq!(flawed(|v| cut(v.crt_list(), by)), "was cut off or altered");
    }
    for (damage, why) in [(empty as fn(PathBuf) -> PathBuf, "is empty"), (remove, "is missing")] {
        assert_eq!(flawed(|v| damage(v.main_file())), why);
        assert_eq!(flawed(|v| damage(v.shard_file(0))), why);
        assert_eq!(flawed(|v| damage(v.maps().join("prefix.map"))), why);
        assert_eq!(flawed(|v| damage(v.crt_list())), why);
        assert_eq!(flawed(|v| damage(v.default_certificate())), why);
        assert_eq!(flawed(|v| damage(v.certificates().join("ns_1.pem"))), why);
    }
    assert_eq!(flawed(|v| remove(v.errors().join("503.http"))), "is missing");
    assert_eq!(flawed(|v| remove(v.patterns().join("deny.lst"))), "is missing");
    let why = flawed(|v| cut(v.certificates().join("ns_1.pem"), 8));
    assert_eq!(why, "was cut off: its last line ends no PEM block");
    let why = flawed(|v| {
        fs::write(v.shard_file(3), [0xff, 0, 0]).unwrap();
        v.shard_file(3)
    });
    assert_eq!(why, "is not text");
    let why = flawed(|v| {
        fs::write(v.main_file(), "global\n  daemon\n").unwrap();
        v.main_file()
    });
    assert_eq!(why, "was cut off or altered");
}

#[test]
fn a_file_of_zeros_is_damaged() {
    let zeros = |path: PathBuf| {
        fs::write(&path, vec![0; fs::read(&path).unwrap().len()]).unwrap();
        path
    };
    flawed(|v| zeros(v.main_file()));
    flawed(|v| zeros(v.shard_file(9)));
    flawed(|v| zeros(v.default_certificate()));
}

#[test]
fn a_map_that_only_a_shard_names_is_checked_too() {
    let why = flawed(|v| {
        let map = v.maps().join("limits.map");
        let text =
            format!("backend b\n  http-request deny if {{ path,map_str({}) -m found }}\n", map.display());
        fs::write(v.shard_file(1), crate::seal(text)).unwrap();
        map
    });
    assert_eq!(why, "is missing");
}

#[test]
fn no_certificate_is_wanted_when_the_main_file_names_no_list() {
    let scratch = Scratch::new();
    let volumes = scratch.volumes();
    generate(&volumes, "one", 2);
    fs::write(volumes.main_file(), crate::seal("global\n".to_owned())).unwrap();
    fs::remove_dir_all(volumes.certificates()).unwrap();
    fs::remove_file(volumes.crt_list()).unwrap();
    assert_eq!(state_of(&volumes), FolderState::Complete);
}

#[test]
fn certificates_may_end_in_blank_lines_and_carriage_returns() {
    let scratch = Scratch::new();
    for (name, text, is_whole) in [
        ("unix", PEM.to_owned(), true),
        ("no newline", PEM.trim_end().to_owned(), true),
        ("windows", PEM.replace('\n', "\r\n") + "\r\n", true),
        ("cut in the last line", PEM[..PEM.len() - 3].to_owned(), false),
        ("blank", "\n".to_owned(), false),
    ] {
        let path = scratch.path(name);
        fs::write(&path, text).unwrap();
        assert_eq!(check_pem(&path).is_ok(), is_whole, "{name}");
    }
}

#[test]
fn paths_are_found_where_haproxy_would_read_them() {
    let found: Vec<&str> = paths_under(
        Path::new("/m"),
        "a /m/a.map\nb map(/m/b.map,none) \"/m/c.map\"\n  # /m/no.map\nx opt@/m/no virt@/m/no\ny /other/m/no.map /m/ file@/m/d",
    )
    .collect();
    assert_eq!(found, ["/m/a.map", "/m/b.map", "/m/c.map", "/m/d"]);
}

#[test]
fn a_pending_mark_comes_before_everything_else() {
    let scratch = Scratch::new();
    let volumes = scratch.volumes();
    generate(&volumes, "one", 0);
    fs::write(volumes.pending(), "").unwrap();
    assert_eq!(state_of(&volumes), FolderState::Pending);
}

#[test]
fn a_missing_folder_is_empty() {
    let volumes =
        Volumes { config: "/nowhere/a".into(), state: "/nowhere/b".into(), run: "/nowhere/c".into() };
    assert_eq!(state_of(&volumes), FolderState::Empty);
}

#[test]
fn something_that_is_no_file_is_named() {
    let why = flawed(|v| {
        fs::remove_file(v.shard_file(4)).unwrap();
        fs::create_dir(v.shard_file(4)).unwrap();
        v.shard_file(4)
    });
    assert!(why.starts_with("cannot be read: "), "{why}");
}

#[test]
fn five_thousand_certificates_are_looked_at_in_no_time() {
    let scratch = Scratch::new();
    let volumes = scratch.volumes();
    generate(&volumes, "one", 5_000);
    let start = Instant::now();
    assert_eq!(state_of(&volumes), FolderState::Complete);
    let took = start.elapsed();
    // About 40 ms without optimisation on two busy cores; the bound only catches something quadratic.
    assert!(took < Duration::from_secs(3), "{took:?}");
}
