//! Memory, CPU and descriptors of this process, from `/proc/self`; what cannot be read is left out.

use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;

#[derive(Debug)]
pub(super) struct Collector;

impl prometheus_client::collector::Collector for Collector {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), std::fmt::Error> {
        if let Some(seconds) = cpu_seconds() {
            let metric = encoder.encode_descriptor(
                "process_cpu_seconds",
                "CPU time of the controller",
                None,
                MetricType::Counter,
            )?;
            ConstCounter::new(seconds).encode(metric)?;
        }
        let gauges = [
            ("process_resident_memory_bytes", "Memory of the controller", memory_bytes(1)),
            ("process_virtual_memory_bytes", "Addresses that the controller has reserved", memory_bytes(0)),
            ("process_open_fds", "Open descriptors of the controller", open_descriptors()),
            ("process_max_fds", "Descriptors that the controller may open", most_descriptors()),
            ("process_start_time_seconds", "When the controller started, since 1970", started()),
        ];
        for (name, help, value) in gauges {
            if let Some(value) = value {
                let metric = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
                ConstGauge::new(value).encode(metric)?;
            }
        }
        Ok(())
    }
}

/// Fields of `/proc/self/stat` (proc(5)) from the third on; the second may hold anything in parentheses.
fn stat_from_third<const N: usize>(fields: [usize; N]) -> Option<[u64; N]> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let words: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let mut values = [0; N];
    for (value, field) in values.iter_mut().zip(fields) {
        *value = words.get(field - 3)?.parse().ok()?;
    }
    Some(values)
}

/// Fields 14 and 15: user and system time, in ticks.
fn cpu_seconds() -> Option<f64> {
    let [user, system] = stat_from_third([14, 15])?;
    let ticks = u32::try_from(user + system).ok()?;
    let per_second = u32::try_from(rustix::param::clock_ticks_per_second()).ok()?;
    Some(f64::from(ticks) / f64::from(per_second))
}

/// Field 22: ticks from the machine's start to the process's; `btime` of `/proc/stat` is the former.
fn started() -> Option<i64> {
    let [ticks] = stat_from_third([22])?;
    let machine = std::fs::read_to_string("/proc/stat").ok()?;
    let machine: u64 = machine.lines().find_map(|line| line.strip_prefix("btime "))?.parse().ok()?;
    i64::try_from(machine + ticks / rustix::param::clock_ticks_per_second()).ok()
}

/// `/proc/self/statm` (proc(5)), in pages: all of it (0), what is resident (1).
fn memory_bytes(field: usize) -> Option<i64> {
    let statm = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: i64 = statm.split_whitespace().nth(field)?.parse().ok()?;
    Some(pages * i64::try_from(rustix::param::page_size()).ok()?)
}

fn most_descriptors() -> Option<i64> {
    i64::try_from(rustix::process::getrlimit(rustix::process::Resource::Nofile).current?).ok()
}

fn open_descriptors() -> Option<i64> {
    i64::try_from(std::fs::read_dir("/proc/self/fd").ok()?.count()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_has_memory_time_and_descriptors() {
        assert!(cpu_seconds().is_some_and(|seconds| seconds >= 0.0));
        assert!(memory_bytes(1).is_some_and(|bytes| bytes > 100_000));
        assert!(memory_bytes(0) > memory_bytes(1));
        assert!(open_descriptors().is_some_and(|count| count >= 3));
        assert!(most_descriptors() > open_descriptors());
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
        let started = u64::try_from(started().unwrap()).unwrap();
        assert!(started <= now + 2 && now < started + 24 * 3600, "{started} {now}");
    }
}
