//! What a profile is, before it is written down.

use std::time::{Duration, SystemTime};

/// A kind of value and its unit, as pprof names them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ValueType {
    /// For example `cpu` or `inuse_space`.
    pub kind: &'static str,
    /// For example `nanoseconds` or `bytes`.
    pub unit: &'static str,
}

/// Values that one stack caused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sample {
    /// Addresses of instructions, the innermost first. Those of callers lie inside of the call, not behind it.
    pub stack: Vec<usize>,
    /// One for each of the profile's types.
    pub values: Vec<i64>,
}

/// A part of a file that is mapped to be executed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mapping {
    /// First address.
    pub start: usize,
    /// The address behind the last one.
    pub end: usize,
    /// Where `start` is in the file.
    pub offset: u64,
    /// The file.
    pub file: String,
}

impl Mapping {
    /// The executable mappings of this process, the program's own first; none when `/proc` cannot be read.
    pub fn of_this_process() -> Vec<Self> {
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
        maps.lines().filter_map(Self::parse).collect()
    }

    /// A line of `/proc/PID/maps` (proc(5)): `start-end perms offset dev inode path`.
    fn parse(line: &str) -> Option<Self> {
        let mut words = line.split_whitespace();
        let (start, end) = words.next()?.split_once('-')?;
        if !words.next()?.contains('x') {
            return None;
        }
        let offset = u64::from_str_radix(words.next()?, 16).ok()?;
        let file = words.nth(2)?.to_owned();
        let address = |text| usize::from_str_radix(text, 16).ok();
        Some(Self { start: address(start)?, end: address(end)?, offset, file })
    }
}

/// A profile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profile {
    /// What each value of a sample is; pprof shows the last one unless told otherwise.
    pub types: Vec<ValueType>,
    /// The samples.
    pub samples: Vec<Sample>,
    /// What is mapped where.
    pub mappings: Vec<Mapping>,
    /// What was counted between two samples, and how much of it.
    pub period: (ValueType, i64),
    /// When it was taken.
    pub taken: SystemTime,
    /// How long that took.
    pub duration: Duration,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn executable_mappings_of_files_count() {
        let line = "7f00a000-7f00c000 r-xp 00001000 fe:01 123   /usr/bin/some thing";
        let mapping = Mapping::parse(line).unwrap();
        assert_eq!((mapping.start, mapping.end, mapping.offset), (0x7f00_a000, 0x7f00_c000, 0x1000));
        assert_eq!(Mapping::parse("7f00a000-7f00c000 rw-p 00001000 fe:01 123 /usr/bin/x"), None);
        assert_eq!(Mapping::parse("7f00a000-7f00c000 r-xp 00000000 00:00 0"), None);
        assert!(!Mapping::of_this_process().is_empty());
    }
}
