//! What the source counts, read when it is asked for.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;

use crate::cluster::Kind;
use crate::watch::{Counters, KindCounters};

/// Kinds that are watched, and manifest files.
const KINDS: [Kind; 7] = [
    Kind::Ingress,
    Kind::IngressClass,
    Kind::Service,
    Kind::EndpointSlice,
    Kind::Secret,
    Kind::ConfigMap,
    Kind::File,
];

#[derive(Debug)]
pub(super) struct Collector(pub(super) Arc<Counters>);

impl prometheus_client::collector::Collector for Collector {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), std::fmt::Error> {
        type Of = fn(&KindCounters) -> &AtomicU64;
        let counters: [(&str, &str, Of); 3] = [
            ("watch_events", "Objects that changed or went, outside of lists", |of| &of.events),
            ("watch_relists", "Complete lists, the first one included", |of| &of.relists),
            ("watch_errors", "Failed requests and broken watches; files that could not be used", |of| {
                &of.errors
            }),
        ];
        for (name, help, of) in counters {
            let mut metric = encoder.encode_descriptor(name, help, None, MetricType::Counter)?;
            for kind in KINDS {
                let count = ConstCounter::new(of(self.0.of(kind)).load(Ordering::Relaxed));
                count.encode(metric.encode_family(&[("kind", kind.as_str())])?)?;
            }
        }
        Ok(())
    }
}
