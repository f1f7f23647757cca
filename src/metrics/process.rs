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
            ("process_resident_memory_bytes", "Memory of the controller", resident_bytes()),
            ("process_open_fds", "Open descriptors of the controller", open_descriptors()),
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

/// User and system time: fields 14 and 15 of `/proc/self/stat` (proc(5)), in ticks; field 2 may hold anything in parentheses.
fn cpu_seconds() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |at: usize| fields.get(at)?.parse::<u32>().ok();
    let per_second = u32::try_from(rustix::param::clock_ticks_per_second()).ok()?;
    Some((f64::from(ticks(11)?) + f64::from(ticks(12)?)) / f64::from(per_second))
}

/// Field 2 of `/proc/self/statm` (proc(5)), in pages.
fn resident_bytes() -> Option<i64> {
    let statm = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: i64 = statm.split_whitespace().nth(1)?.parse().ok()?;
    Some(pages * i64::try_from(rustix::param::page_size()).ok()?)
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
        assert!(resident_bytes().is_some_and(|bytes| bytes > 100_000));
        assert!(open_descriptors().is_some_and(|count| count >= 3));
    }
}
