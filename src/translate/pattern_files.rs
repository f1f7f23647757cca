//! Pattern files that snippets name: `-f patterns/FILE` is an entry of the ConfigMap of `--configmap-patternfiles`.

use std::sync::Arc;

use super::Settings;
use crate::cluster::Snapshot;
use crate::model::{List, ListName};
use crate::options::raw::pattern_files;

/// The lists behind the pattern files in these lines. A file that is not there is left to HAProxy, which refuses the line.
pub(super) fn named_by<'a>(
    lines: &'a [Arc<str>],
    snapshot: &'a Snapshot,
    settings: &'a Settings,
) -> impl Iterator<Item = (ListName, List)> + 'a {
    let config_map = settings.pattern_files.as_ref().and_then(|name| snapshot.config_maps.get(name));
    lines.iter().flat_map(|line| pattern_files(line)).filter_map(move |file| {
        let text = config_map?.data.get(file.as_str())?;
        let patterns = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        Some((ListName::file(&file), Arc::new(patterns.map(Arc::from).collect())))
    })
}
