//! Spare backends (2.6+): the plain policy without servers, for new Services to take while HAProxy runs.

use std::collections::BTreeMap;

use super::backend;
use crate::model::{BackendName, Capabilities, Policy};
use crate::plan::BackendText;

/// Renders a spare backend. But for name and comment it is what a Service without any settings gets.
pub(super) fn render(name: &BackendName, capabilities: Capabilities) -> BackendText {
    let comment = "spare: a new Service takes it while HAProxy runs";
    let header = backend::header(name, comment, &Policy::default(), capabilities).finish().into();
    BackendText { header, servers: BTreeMap::new() }
}
