//! The heap by the stacks that allocated it, as jemalloc samples it (`man jemalloc`, `opt.prof`; 5.3).
//!
//! jemalloc decides at its start whether it samples: without `prof:true` there is no counter and no lock in its way. So a
//! program that wants samples starts itself again with the variable set, and one that does not pays nothing.

use std::fs::File;
use std::io::{self, Read, Seek};
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use tikv_jemalloc_ctl::{profiling, raw};

use crate::profile::{Mapping, Profile, Sample, ValueType};

/// jemalloc's options, under the prefix that its crate builds it with.
const VARIABLE: &str = "_RJEM_MALLOC_CONF";
/// One sample per 64 KiB (2^16) on average: a controller's heap is some ten MiB, and a sample takes some microseconds.
/// `prof_accum`: what was freed again is counted, too.
const OPTIONS: &str = "prof:true,prof_accum:true,lg_prof_sample:16";

const TYPES: [(&str, &str); 4] = [
    ("alloc_objects", "count"),
    ("alloc_space", "bytes"),
    ("inuse_objects", "count"),
    ("inuse_space", "bytes"),
];

/// Why there is no heap profile.
#[derive(Debug, thiserror::Error)]
pub enum HeapError {
    /// jemalloc was started without.
    #[error("the allocator does not sample in this process")]
    NotSampled,
    /// jemalloc would not write.
    #[error("the allocator could not write its profile: {0}")]
    Dump(String),
    /// The memory for it could not be had or read.
    #[error("the allocator's profile could not be read: {0}")]
    Io(#[from] io::Error),
    /// Not what jemalloc 5.3 writes.
    #[error("the allocator's profile has another form than expected")]
    Form,
}

/// Whether the allocator samples.
pub fn samples_heap() -> bool {
    profiling::prof::read().unwrap_or(false)
}

/// Starts this program again, in the same process and with the same arguments, with an allocator that samples. Does nothing
/// when it samples already. Comes back only when that cannot be done.
pub fn restart_with_sampling() -> io::Result<()> {
    if samples_heap() {
        return Ok(());
    }
    if std::env::var_os(VARIABLE).is_some() {
        return Err(io::Error::other(format!("{VARIABLE} is set already, to something else")));
    }
    let mut arguments = std::env::args_os();
    let mut command = Command::new("/proc/self/exe");
    if let Some(name) = arguments.next() {
        command.arg0(name);
    }
    Err(command.args(arguments).env(VARIABLE, OPTIONS).exec())
}

/// What is on the heap now, and what ever was.
pub fn heap() -> Result<Profile, HeapError> {
    if !samples_heap() {
        return Err(HeapError::NotSampled);
    }
    let text = dump()?;
    let (rate, samples) = parse(&text).ok_or(HeapError::Form)?;
    let types = TYPES.map(|(kind, unit)| ValueType { kind, unit });
    Ok(Profile {
        types: types.to_vec(),
        samples,
        mappings: Mapping::of_this_process(),
        period: (ValueType { kind: "space", unit: "bytes" }, rate),
        taken: SystemTime::now(),
        duration: Duration::ZERO,
    })
}

/// jemalloc writes to a file only; this one is memory, since a container may have no folder to write to.
struct Target {
    file: File,
    /// jemalloc wants it for ever.
    path: &'static [u8],
}

fn dump() -> Result<String, HeapError> {
    static TARGET: Mutex<Option<Target>> = Mutex::new(None);
    let mut target = TARGET.lock().unwrap_or_else(PoisonError::into_inner);
    let target = match &mut *target {
        Some(target) => target,
        none => none.insert(target_in_memory()?),
    };
    raw::write_str(b"prof.dump\0", target.path).map_err(|error| HeapError::Dump(error.to_string()))?;
    let mut text = String::new();
    target.file.rewind()?;
    target.file.read_to_string(&mut text)?;
    target.file.set_len(0)?;
    Ok(text)
}

fn target_in_memory() -> io::Result<Target> {
    let file = File::from(rustix::fs::memfd_create("heap", rustix::fs::MemfdFlags::CLOEXEC)?);
    let path = format!("/proc/self/fd/{}\0", file.as_raw_fd());
    Ok(Target { file, path: path.into_bytes().leak() })
}

/// `heap_v2/RATE`, then for each stack `@ ADDRESS…`, and below it ` t*: OBJECTS: BYTES [OBJECTS: BYTES]`: what is there now
/// and, in brackets, what ever was. The lines of single threads are in that sum.
fn parse(text: &str) -> Option<(i64, Vec<Sample>)> {
    let text = text.split("\nMAPPED_LIBRARIES").next()?;
    let mut lines = text.lines();
    let rate: i64 = lines.next()?.strip_prefix("heap_v2/")?.parse().ok()?;
    let mut samples = Vec::new();
    let mut stack: Option<Vec<usize>> = None;
    for line in lines {
        if let Some(addresses) = line.strip_prefix('@') {
            let addresses = addresses.split_whitespace().map(|address| {
                let address = usize::from_str_radix(address.strip_prefix("0x")?, 16).ok()?;
                // They are behind the calls.
                Some(address.saturating_sub(1))
            });
            stack = Some(addresses.collect::<Option<_>>()?);
        } else if let Some(counts) = line.trim_start().strip_prefix("t*:")
            && let Some(stack) = stack.take()
        {
            let separators = [' ', ':', '[', ']'];
            let mut numbers = counts.split(separators).filter(|word| !word.is_empty()).map(str::parse::<u64>);
            let mut pair = || Some((numbers.next()?.ok()?, numbers.next()?.ok()?));
            let (now, ever) = (pair()?, pair()?);
            let values = [estimate(ever, rate), estimate(now, rate)].concat();
            samples.push(Sample { stack, values });
        }
    }
    Some((rate, samples))
}

/// Objects and bytes that the sampled ones stand for: an object of `size` bytes is sampled with the probability
/// `1 - exp(-size / rate)`.
#[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "an estimate")]
fn estimate((objects, bytes): (u64, u64), rate: i64) -> [i64; 2] {
    if objects == 0 {
        return [0, 0];
    }
    let size = bytes as f64 / objects as f64;
    let scale = 1.0 / -(-size / rate as f64).exp_m1();
    [(objects as f64 * scale).round() as i64, (bytes as f64 * scale).round() as i64]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_jemalloc_becomes_samples() {
        let text = "heap_v2/65536\n  t*: 3: 131074 [4: 131075]\n  t0: 3: 131074 [4: 131075]\n\
                    @ 0x10 0x20\n  t*: 2: 2000000 [3: 3000000]\n  t0: 2: 2000000 [3: 3000000]\n\
                    @ 0x30\n  t*: 0: 0 [1: 1]\n\nMAPPED_LIBRARIES:\n@ junk\n";
        let (rate, samples) = parse(text).unwrap();
        assert_eq!(rate, 65536);
        assert_eq!(samples[0].stack, [0xf, 0x1f]);
        assert_eq!(
            samples[0].values,
            [3, 3_000_001, 2, 2_000_000],
            "large objects are sampled nearly always"
        );
        assert_eq!(samples[1].stack, [0x2f]);
        assert_eq!(samples[1].values, [65537, 65537, 0, 0], "one byte is sampled once in 65536");
        assert_eq!(samples.len(), 2);
        assert_eq!(parse("heap_v1/1\n"), None);
    }
}
