//! The binary as it goes into its image.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::private_mounts;
use crate::scratch::Scratch;

/// Largest size of the released binary: 1.25 MiB.
const LARGEST: u64 = 5 * 1024 * 1024 / 4;

fn build() -> PathBuf {
    let target = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("release");
    let built = Command::new(env!("CARGO"))
        .args(["build", "--locked", "--release", "-p", "outrigger-init", "--target", &target, "--target-dir"])
        .arg(&folder)
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap())
        .env_remove("RUSTFLAGS")
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .output()
        .unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    folder.join(target).join("release/outrigger-init")
}

/// Types of the segments and of the sections of a little-endian 64-bit ELF file.
fn segments_and_sections(elf: &[u8]) -> (Vec<u32>, Vec<u32>) {
    assert_eq!(&elf[..6], b"\x7fELF\x02\x01");
    let number =
        |at: usize, bytes: usize| elf[at..at + bytes].iter().rev().fold(0, |n, b| n << 8 | usize::from(*b));
    let types = |table: usize, size: usize, count: usize, at: usize| {
        (0..count).map(|i| u32::try_from(number(table + i * size + at, 4)).unwrap()).collect()
    };
    (
        types(number(0x20, 8), number(0x36, 2), number(0x38, 2), 0),
        types(number(0x28, 8), number(0x3a, 2), number(0x3c, 2), 4),
    )
}

#[test]
fn is_static_stripped_small_and_alone_in_its_image() {
    let binary = build();
    let elf = fs::read(&binary).unwrap();
    assert!(elf.len() as u64 <= LARGEST, "{} bytes are more than {LARGEST}", elf.len());
    let (segments, sections) = segments_and_sections(&elf);
    assert!(!segments.contains(&3), "it asks for a loader (PT_INTERP)");
    assert!(!sections.contains(&2), "it has symbols (SHT_SYMTAB)");

    // `FROM scratch`: nothing but the binary and the two mounts, not even /proc.
    let image = Scratch::on_disk();
    for folder in ["etc", "lib"] {
        fs::create_dir(image.path(folder)).unwrap();
    }
    fs::copy(&binary, image.path("outrigger-init")).unwrap();
    let run = |config: &str| {
        let mut command = private_mounts();
        command.arg("--root").arg(image.root()).args([
            "/outrigger-init",
            "--state-dir",
            "/lib",
            "--config-dir",
            config,
        ]);
        let output = command.output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
        (output.status.code(), text)
    };
    assert_eq!(
        run("/etc"),
        (Some(0), "outrigger-init: /etc: wrote a seed: there was no configuration\n".to_owned())
    );
    let (code, text) = run("/missing");
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("; this process is uid ? gid ? groups (none); `/` belongs to "), "{text}");
}
