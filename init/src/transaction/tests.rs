use std::collections::BTreeMap;

use super::*;
use crate::scratch::{Scratch, generate};
use crate::{Families, FolderState, SHARDS, seal, seed, state_of};

/// Everything on both volumes: path to content. Folders too, without content.
fn contents(volumes: &Volumes) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
    fn walk(folder: &Path, into: &mut BTreeMap<PathBuf, Option<Vec<u8>>>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, into);
                into.insert(path, None);
            } else {
                let content = fs::read(&path).unwrap();
                into.insert(path, Some(content));
            }
        }
    }
    let mut all = BTreeMap::new();
    walk(&volumes.config, &mut all);
    walk(&volumes.state, &mut all);
    all
}

/// A good configuration, then what the controller writes while the transaction is open: changed, new and removed files.
fn write_candidate(volumes: &Volumes) {
    let write = |path: PathBuf, text: &str| write_atomic(&path, text.as_bytes(), FILE_MODE).unwrap();
    write(volumes.maps().join("exact.map"), &seal("web#changed\n".to_owned()));
    write(volumes.maps().join("new.map"), &seal("x\n".to_owned()));
    write(volumes.errors().join("404.http"), "HTTP/1.0 404 new\r\n\r\n");
    write(volumes.shard_file(5), &seal("backend changed\n".to_owned()));
    write(volumes.config.join("haproxy_zz.cfg"), "backend new\n");
    write(volumes.main_file(), &seal("global # changed\n".to_owned()));
    write(volumes.crt_list(), &seal("# changed\n".to_owned()));
    write(volumes.state.join("other.crt-list"), &seal("# new\n".to_owned()));
    fs::remove_file(volumes.patterns().join("deny.lst")).unwrap();
    fs::remove_file(volumes.shard_file(6)).unwrap();
}

fn good() -> (Scratch, Volumes, BTreeMap<PathBuf, Option<Vec<u8>>>) {
    let scratch = Scratch::new();
    let volumes = scratch.volumes();
    generate(&volumes, "good", 1);
    let before = contents(&volumes);
    (scratch, volumes, before)
}

/// After how many steps to cut: all around the ends, where steps differ, and some of the many links in between.
fn cuts(steps: usize) -> impl Iterator<Item = usize> {
    (0..=steps).filter(move |cut| *cut < 25 || cut + 25 > steps || cut % 16 < 2)
}

#[test]
fn committed_the_candidate_stays_and_nothing_else() {
    let (_scratch, volumes, _) = good();
    let transaction = Transaction::begin(&volumes).unwrap();
    assert_eq!(state_of(&volumes), FolderState::Pending);
    write_candidate(&volumes);
    let mut wanted = contents(&volumes);
    wanted.retain(|path, _| {
        !path.starts_with(volumes.last_good())
            && !path.starts_with(volumes.last_good_state())
            && *path != volumes.pending()
    });
    transaction.commit().unwrap();
    assert!(contents(&volumes) == wanted);
    transaction.commit().unwrap();
    assert!(contents(&volumes) == wanted);
}

#[test]
fn restored_everything_is_as_before() {
    let (_scratch, volumes, before) = good();
    let transaction = Transaction::begin(&volumes).unwrap();
    write_candidate(&volumes);
    assert!(transaction.restore().unwrap());
    assert!(contents(&volumes) == before);
    assert_eq!(state_of(&volumes), FolderState::Complete);
    assert!(!transaction.restore().unwrap(), "a second time there is nothing to restore");
    assert!(contents(&volumes) == before);
}

#[test]
fn begun_again_the_first_good_set_stays() {
    let (_scratch, volumes, before) = good();
    Transaction::begin(&volumes).unwrap();
    write_candidate(&volumes);
    let second = Transaction::begin(&volumes).unwrap();
    fs::remove_file(volumes.main_file()).unwrap();
    second.restore().unwrap();
    assert!(contents(&volumes) == before);
}

#[test]
fn a_begin_cut_off_anywhere_changes_nothing_that_haproxy_reads() {
    let (_scratch, volumes, before) = good();
    let steps = begin_steps(&volumes).unwrap();
    assert!(steps.len() > SHARDS);
    for cut in cuts(steps.len() - 1) {
        run(&steps[..cut]).unwrap();
        assert_eq!(state_of(&volumes), FolderState::Complete, "cut after {cut}");
        assert!(Transaction::open(&volumes).is_none());
        // The next begin starts over the leftovers, the next start of `init` removes them.
        if cut % 2 == 0 {
            let transaction = Transaction::begin(&volumes).unwrap();
            write_candidate(&volumes);
            assert!(transaction.restore().unwrap());
        } else {
            Transaction::clean(&volumes).unwrap();
        }
        assert!(contents(&volumes) == before, "cut after {cut}");
    }
}

#[test]
fn a_commit_cut_off_anywhere_leaves_the_candidate() {
    let (_scratch, volumes, _) = good();
    Transaction::begin(&volumes).unwrap();
    let number = commit_steps(&volumes).unwrap().len();
    for cut in cuts(number).skip(1) {
        Transaction::begin(&volumes).unwrap();
        let main = seal(format!("global # candidate {cut}\n"));
        write_atomic(&volumes.main_file(), main.as_bytes(), FILE_MODE).unwrap();
        run(&commit_steps(&volumes).unwrap()[..cut]).unwrap();
        assert_eq!(state_of(&volumes), FolderState::Complete, "cut after {cut}");
        Transaction::clean(&volumes).unwrap();
        let main = fs::read_to_string(volumes.main_file()).unwrap();
        assert!(main.contains(&format!("candidate {cut}\n")));
        assert!(!volumes.last_good().exists() && !volumes.last_good_state().exists());
    }
}

#[test]
fn a_restore_cut_off_anywhere_is_restored_again() {
    let (_scratch, volumes, before) = good();
    Transaction::begin(&volumes).unwrap();
    write_candidate(&volumes);
    let steps = restore_steps(&volumes).unwrap().len();
    Transaction::open(&volumes).unwrap().restore().unwrap();
    for cut in cuts(steps) {
        Transaction::begin(&volumes).unwrap();
        write_candidate(&volumes);
        let all = restore_steps(&volumes).unwrap();
        assert_eq!(all.len(), steps);
        run(&all[..cut]).unwrap();
        // A second restore may be cut off as well.
        if let Some(transaction) = Transaction::open(&volumes) {
            let again = restore_steps(&volumes).unwrap();
            run(&again[..again.len() / 3]).unwrap();
            if Transaction::open(&volumes).is_some() {
                assert!(transaction.restore().unwrap(), "cut after {cut}");
            }
        }
        Transaction::clean(&volumes).unwrap();
        assert!(contents(&volumes) == before, "cut after {cut}");
    }
}

#[test]
fn an_update_cut_off_after_any_write_is_restored() {
    let (_scratch, volumes, before) = good();
    for cut in [0, 1, 100, SHARDS] {
        Transaction::begin(&volumes).unwrap();
        for shard in 0..cut {
            write_atomic(&volumes.shard_file(shard), b"half", FILE_MODE).unwrap();
        }
        assert!(Transaction::open(&volumes).unwrap().restore().unwrap());
        assert!(contents(&volumes) == before, "cut after {cut}");
    }
}

#[test]
fn restoring_replaces_what_is_referred_to_first_and_touches_nothing_else() {
    let (_scratch, volumes, _) = good();
    Transaction::begin(&volumes).unwrap();
    write_candidate(&volumes);
    let order: Vec<String> = restore_steps(&volumes)
        .unwrap()
        .into_iter()
        .filter_map(|step| match step {
            Step::Rename { to, .. } => Some(format!("+{}", to.file_name().unwrap().display())),
            Step::Remove(path) if !path.starts_with(volumes.last_good()) => {
                Some(format!("-{}", path.file_name().unwrap().display()))
            }
            _ => None,
        })
        .filter(|step| !step.starts_with("-https"))
        .collect();
    assert_eq!(
        order,
        [
            "+deny.lst",
            "+exact.map",
            "+https.crt-list",
            "+haproxy_05.cfg",
            "+haproxy_06.cfg",
            "+haproxy.cfg",
            "-haproxy_zz.cfg",
            "-other.crt-list",
            "-new.map",
            "-404.http",
            "-pending",
        ]
    );
}

#[test]
fn back_to_the_seed_no_shard_stays() {
    let scratch = Scratch::new();
    let volumes = scratch.volumes();
    fs::write(volumes.main_file(), seed(1042, Families { ipv4: true, ipv6: false })).unwrap();
    let transaction = Transaction::begin(&volumes).unwrap();
    generate(&volumes, "first", 1);
    transaction.restore().unwrap();
    assert_eq!(state_of(&volumes), FolderState::Seed);
}

#[test]
fn configuration_that_others_put_there_meanwhile_stays() {
    let (_scratch, volumes, _) = good();
    let transaction = Transaction::begin(&volumes).unwrap();
    let own = volumes.config.join("zz-own.cfg");
    fs::write(&own, "# own\n").unwrap();
    transaction.restore().unwrap();
    assert!(own.exists());
}

#[test]
fn with_a_lost_state_volume_the_configuration_comes_back_alone() {
    let (_scratch, volumes, _) = good();
    let transaction = Transaction::begin(&volumes).unwrap();
    write_candidate(&volumes);
    fs::remove_dir_all(&volumes.state).unwrap();
    fs::create_dir(&volumes.state).unwrap();
    assert!(transaction.restore().unwrap());
    let wanted = FolderState::Incomplete { path: volumes.crt_list(), why: "is missing".to_owned() };
    assert_eq!(state_of(&volumes), wanted);
}

#[test]
fn with_a_lost_last_good_set_nothing_is_touched() {
    let (_scratch, volumes, _) = good();
    let transaction = Transaction::begin(&volumes).unwrap();
    write_candidate(&volumes);
    fs::remove_dir_all(volumes.last_good()).unwrap();
    let before = contents(&volumes);
    assert!(!transaction.restore().unwrap());
    assert!(contents(&volumes) == before);
}

#[test]
fn copies_do_when_links_are_refused() {
    // Two file systems where the machine has them: links from one to the other are refused by every kernel.
    let (memory, scratch) = (Scratch::new(), Scratch::on_disk());
    let (from, to) = (memory.path("from"), scratch.path("to"));
    fs::write(&from, "text").unwrap();
    for _ in 0..2 {
        link(&from, &to).unwrap();
        assert_eq!(fs::read_to_string(&to).unwrap(), "text");
    }
    assert!(same(&from, &to));
    let missing = link(&scratch.path("missing"), &to).unwrap_err();
    assert_eq!(missing.kind(), ErrorKind::NotFound);
}
