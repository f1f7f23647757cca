use std::os::unix::fs::PermissionsExt;

use super::*;
use crate::scratch::{Scratch, generate};
use crate::state_of;

fn options() -> Options {
    Options { healthz_port: 1042, families: Families { ipv4: true, ipv6: true }, create_volumes: false }
}

#[test]
fn an_empty_folder_gets_its_subfolders_and_a_seed_once() {
    let scratch = Scratch::new();
    let volumes =
        Volumes { config: scratch.path("etc"), state: scratch.path("lib"), run: scratch.path("run") };
    fs::create_dir(&volumes.config).unwrap();
    fs::create_dir(&volumes.state).unwrap();
    let outcome = prepare(&volumes, &options()).unwrap();
    assert_eq!(outcome.to_string(), "wrote a seed: there was no configuration");
    for folder in [volumes.maps(), volumes.patterns(), volumes.errors(), volumes.certificates()] {
        assert_eq!(
            fs::metadata(&folder).unwrap().permissions().mode() & 0o7777,
            0o2770,
            "{}",
            folder.display()
        );
    }
    assert_eq!(fs::metadata(volumes.main_file()).unwrap().permissions().mode() & 0o7777, 0o640);
    assert!(!volumes.run.exists(), "init has no volume for sockets");
    assert_eq!(prepare(&volumes, &options()).unwrap().to_string(), "kept what is there: there is a seed");
}

#[test]
fn a_seed_for_another_port_is_replaced() {
    let scratch = Scratch::new();
    let volumes = scratch.volumes();
    prepare(&volumes, &options()).unwrap();
    let outcome = prepare(&volumes, &Options { healthz_port: 2042, ..options() }).unwrap();
    assert_eq!(outcome.to_string(), "wrote a seed: the one there was for other settings");
    assert!(fs::read_to_string(volumes.main_file()).unwrap().contains(":2042"));
}

#[test]
fn a_complete_configuration_is_left_alone() {
    let scratch = Scratch::new();
    let volumes = scratch.volumes();
    generate(&volumes, "one", 1);
    fs::create_dir(volumes.last_good()).unwrap();
    fs::write(volumes.last_good().join("haproxy.cfg"), "leftover").unwrap();
    fs::write(volumes.maps().join(".x.map.outrigger"), "leftover").unwrap();
    let before = fs::read(volumes.main_file()).unwrap();
    assert_eq!(prepare(&volumes, &options()).unwrap(), Outcome::Kept(FolderState::Complete));
    assert_eq!(fs::read(volumes.main_file()).unwrap(), before);
    assert!(!volumes.last_good().exists());
    assert!(!volumes.maps().join(".x.map.outrigger").exists());
}

#[test]
fn an_incomplete_one_gives_way_to_a_seed_that_nothing_disturbs() {
    let scratch = Scratch::new();
    let volumes = scratch.volumes();
    generate(&volumes, "one", 1);
    fs::write(volumes.default_certificate(), "").unwrap();
    let outcome = prepare(&volumes, &options()).unwrap();
    let wanted = format!("wrote a seed: `{}` is empty", volumes.default_certificate().display());
    assert_eq!(outcome.to_string(), wanted);
    assert_eq!(state_of(&volumes), FolderState::Seed);
    assert!(!volumes.shard_file(0).exists());
}

#[test]
fn somebodys_own_main_file_is_kept_beside() {
    let scratch = Scratch::new();
    let volumes = scratch.volumes();
    fs::write(volumes.main_file(), "global\n  # written by hand\n").unwrap();
    prepare(&volumes, &options()).unwrap();
    assert_eq!(state_of(&volumes), FolderState::Seed);
    // A later damage does not take its place.
    fs::write(volumes.main_file(), "# generated, and cut o").unwrap();
    prepare(&volumes, &options()).unwrap();
    let kept = fs::read_to_string(replaced(&volumes)).unwrap();
    assert_eq!(kept, "global\n  # written by hand\n");
}

#[test]
fn an_update_that_was_cut_off_is_undone() {
    let scratch = Scratch::new();
    let volumes = scratch.volumes();
    generate(&volumes, "one", 1);
    Transaction::begin(&volumes).unwrap();
    generate(&volumes, "two", 1);
    let outcome = prepare(&volumes, &options()).unwrap();
    assert_eq!(outcome, Outcome::Restored(FolderState::Complete));
    assert!(fs::read_to_string(volumes.main_file()).unwrap().contains("global # one"));
    assert_eq!(prepare(&volumes, &options()).unwrap(), Outcome::Kept(FolderState::Complete));
}

#[test]
fn the_very_first_update_cut_off_leads_back_to_the_seed() {
    let scratch = Scratch::new();
    let volumes = scratch.volumes();
    prepare(&volumes, &options()).unwrap();
    Transaction::begin(&volumes).unwrap();
    generate(&volumes, "one", 1);
    assert_eq!(prepare(&volumes, &options()).unwrap(), Outcome::Restored(FolderState::Seed));
    assert_eq!(state_of(&volumes), FolderState::Seed);
}

#[test]
fn a_last_good_set_that_is_damaged_or_lost_gives_way_to_a_seed() {
    let scratch = Scratch::new();
    let volumes = scratch.volumes();
    generate(&volumes, "one", 1);
    Transaction::begin(&volumes).unwrap();
    generate(&volumes, "two", 1);
    fs::write(volumes.last_good().join("haproxy_10.cfg"), "").unwrap();
    let outcome = prepare(&volumes, &options()).unwrap();
    assert_eq!(
        outcome.to_string(),
        format!("wrote a seed: `{}` is empty", volumes.shard_file(0x10).display())
    );
    assert_eq!(state_of(&volumes), FolderState::Seed);

    generate(&volumes, "three", 1);
    Transaction::begin(&volumes).unwrap();
    fs::remove_dir_all(volumes.last_good()).unwrap();
    let outcome = prepare(&volumes, &options()).unwrap();
    assert_eq!(outcome.to_string(), "wrote a seed: an update was cut off, and what ran before it is lost");
    assert_eq!(state_of(&volumes), FolderState::Seed);
}

#[test]
fn a_missing_volume_is_an_error_unless_it_may_be_created() {
    let scratch = Scratch::new();
    let volumes =
        Volumes { config: scratch.path("a/etc"), state: scratch.path("a/lib"), run: scratch.path("a/run") };
    let text = prepare(&volumes, &options()).unwrap_err().to_string();
    assert!(text.starts_with(&format!("cannot use the folder `{}`", volumes.config.display())), "{text}");
    assert!(text.contains("mount a volume"), "{text}");

    prepare(&volumes, &Options { create_volumes: true, ..options() }).unwrap();
    assert!(volumes.run.is_dir());
    assert_eq!(state_of(&volumes), FolderState::Seed);
}

#[test]
fn a_file_in_the_place_of_a_folder_is_named() {
    let scratch = Scratch::new();
    let volumes = scratch.volumes();
    fs::remove_dir(volumes.maps()).unwrap();
    fs::write(volumes.maps(), "").unwrap();
    let text = prepare(&volumes, &options()).unwrap_err().to_string();
    assert!(text.contains(&format!("`{}` must be a folder", volumes.maps().display())), "{text}");
}

#[test]
fn an_existing_folder_of_another_mode_gets_ours() {
    let scratch = Scratch::new();
    let volumes = scratch.volumes();
    fs::set_permissions(volumes.errors(), fs::Permissions::from_mode(0o700)).unwrap();
    prepare(&volumes, &options()).unwrap();
    assert_eq!(fs::metadata(volumes.errors()).unwrap().permissions().mode() & 0o7777, 0o2770);
}
