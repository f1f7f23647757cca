//! The binary on volumes that work and on volumes that do not: what it says, and its exit code.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Output};

use outrigger_init::{FolderState, Transaction, Volumes, state_of};

use crate::scratch::{Scratch, generate};
use crate::{is_root, private_mounts};

const BINARY: &str = env!("CARGO_BIN_EXE_outrigger-init");

fn on(command: &mut Command, volumes: &Volumes) -> Output {
    command.arg("--config-dir").arg(&volumes.config).arg("--state-dir").arg(&volumes.state);
    command.arg("--run-dir").arg(&volumes.run).output().unwrap()
}

fn run(volumes: &Volumes) -> Output {
    on(&mut Command::new(BINARY), volumes)
}

/// Exit code, and everything printed.
#[track_caller]
fn expect(output: &Output, code: i32) -> String {
    let text =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{text}");
    let silent = if code == 0 { &output.stderr } else { &output.stdout };
    assert!(silent.is_empty(), "{text}");
    assert_eq!(text.lines().count(), 1, "{text}");
    text
}

#[test]
fn says_in_one_line_what_it_did() {
    let scratch = Scratch::new();
    let volumes = scratch.volumes();
    let config = volumes.config.display();
    let text = expect(&run(&volumes), 0);
    assert_eq!(text, format!("outrigger-init: {config}: wrote a seed: there was no configuration\n"));
    assert_eq!(state_of(&volumes), FolderState::Seed);

    generate(&volumes, "one", 1);
    let text = expect(&run(&volumes), 0);
    assert_eq!(
        text,
        format!("outrigger-init: {config}: kept what is there: the configuration is complete\n")
    );

    Transaction::begin(&volumes).unwrap();
    generate(&volumes, "two", 1);
    let text = expect(&run(&volumes), 0);
    assert!(text.contains(": restored what ran before an update that was cut off: "), "{text}");
    assert!(fs::read_to_string(volumes.main_file()).unwrap().contains("# one"));
}

#[test]
fn a_wrong_option_is_refused_with_a_hint() {
    let output = Command::new(BINARY).arg("--confg-dir").output().unwrap();
    let text = expect(&output, 2);
    assert_eq!(
        text,
        "outrigger-init: unknown argument `--confg-dir`; did you mean `--config-dir`? See `--help`\n"
    );
    assert!(
        Command::new(BINARY).arg("--help").output().unwrap().stdout.starts_with(b"Seeds the shared volumes")
    );
    let version = Command::new(BINARY).arg("--version").output().unwrap();
    assert_eq!(expect(&version, 0), concat!("outrigger-init ", env!("CARGO_PKG_VERSION"), "\n"));
}

/// Runs the binary with a file system of its own as the configuration volume. `prepare` sees it as `$1`.
fn on_mount(volumes: &Volumes, prepare: &str) -> Output {
    let mut command = private_mounts();
    let script = format!("set -e; {prepare}; shift; exec \"$@\"");
    command.args(["sh", "-c", &script, "sh"]).arg(&volumes.config).arg(BINARY);
    on(&mut command, volumes)
}

#[test]
fn a_read_only_volume() {
    let scratch = Scratch::new();
    let volumes = scratch.volumes();
    let text = expect(&on_mount(&volumes, "mount -t tmpfs -o ro none \"$1\""), 1);
    let folder = volumes.maps();
    let wanted =
        format!("outrigger-init: cannot create the folder `{}`: Read-only file system", folder.display());
    assert!(text.starts_with(&wanted), "{text}");
    assert!(text.contains("; this process is uid 0 gid 0 groups "), "{text}");
    assert!(
        text.contains(&format!("; `{}` belongs to 0:0 with mode 1777; remedy: ", volumes.config.display())),
        "{text}"
    );
    assert!(text.contains("without `readOnly: true`"), "{text}");
}

#[test]
fn a_read_only_volume_that_needs_nothing_is_fine() {
    let scratch = Scratch::new();
    let volumes = scratch.volumes();
    generate(&volumes, "one", 1);
    let text = expect(&on_mount(&volumes, "mount --bind \"$1\" \"$1\"; mount -o remount,bind,ro \"$1\""), 0);
    assert!(text.contains("kept what is there"), "{text}");
}

#[test]
fn a_full_volume() {
    let scratch = Scratch::new();
    let volumes = scratch.volumes();
    // Two pages: one for the file that fills them, the folders need none.
    let fill = "mount -t tmpfs -o size=8k none \"$1\"; head -c 8192 /dev/zero >\"$1/filled\"";
    let text = expect(&on_mount(&volumes, fill), 1);
    let wanted =
        format!("outrigger-init: cannot write `{}`: No space left on device", volumes.main_file().display());
    assert!(text.starts_with(&wanted), "{text}");
    assert!(text.contains("raise its `sizeLimit`"), "{text}");
}

/// As a user without rights; as ourselves when we are no root, who would pass every check of modes.
fn run_as_another_user(volumes: &Volumes) -> Output {
    // A copy: the folder of the build may be closed to others.
    let disk = Scratch::on_disk();
    let binary = disk.path("outrigger-init");
    fs::copy(BINARY, &binary).unwrap();
    let mut command = Command::new(&binary);
    if is_root() {
        command.uid(65534).gid(65533);
    }
    on(&mut command, volumes)
}

#[test]
fn a_volume_of_another_user() {
    let scratch = Scratch::new();
    let volumes = scratch.volumes();
    fs::remove_dir(volumes.maps()).unwrap();
    fs::set_permissions(&volumes.config, fs::Permissions::from_mode(0o555)).unwrap();
    let text = expect(&run_as_another_user(&volumes), 1);
    let wanted =
        format!("outrigger-init: cannot create the folder `{}`: Permission denied", volumes.maps().display());
    assert!(text.starts_with(&wanted), "{text}");
    assert!(!is_root() || text.contains("; this process is uid 65534 gid 65533 groups (none); "), "{text}");
    assert!(text.contains(" with mode 0555; remedy: set `securityContext.fsGroup`"), "{text}");
}

#[test]
fn a_good_configuration_that_this_user_may_not_read_is_not_replaced() {
    let scratch = Scratch::new();
    let volumes = scratch.volumes();
    generate(&volumes, "one", 1);
    let before = fs::read(volumes.main_file()).unwrap();
    let open = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    open(&volumes.config, 0o777);
    for folder in [volumes.maps(), volumes.patterns(), volumes.errors(), volumes.certificates()] {
        open(&folder, 0o755);
    }
    open(&volumes.shard_file(17), 0o000);
    let text = expect(&run_as_another_user(&volumes), 1);
    assert!(
        text.contains(&format!("cannot read `{}`: Permission denied", volumes.shard_file(17).display())),
        "{text}"
    );
    assert_eq!(fs::read(volumes.main_file()).unwrap(), before);
}

#[test]
fn a_missing_volume() {
    let scratch = Scratch::new();
    let mut volumes = scratch.volumes();
    volumes.state = scratch.path("missing");
    let text = expect(&run(&volumes), 1);
    let wanted = format!("outrigger-init: cannot use the folder `{}`: No such file", volumes.state.display());
    assert!(text.starts_with(&wanted), "{text}");
    assert!(text.contains("mount a volume so that"), "{text}");
}
