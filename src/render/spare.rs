//! Spare backends (2.6+): the plain policy without servers, for new Services to take while HAProxy runs.

use std::collections::BTreeMap;

use super::{Paths, backend};
use crate::model::{BackendName, Policy};
use crate::plan::BackendText;

/// Renders a spare backend. But for name and comment it is what a Service without any keys of its own gets.
pub(super) fn render(name: &BackendName, plain: &Policy, paths: &Paths<'_>) -> BackendText {
    let comment = "spare: a new Service takes it while HAProxy runs";
    let header = backend::header(name, comment, plain, paths).finish().into();
    BackendText { header, servers: BTreeMap::new(), assets: plain.assets() }
}
