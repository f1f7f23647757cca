//! Whose backend it is.

use super::Context;
use crate::model::Policy;
use crate::options::routing::STANDALONE_BACKEND;

/// Reads the key of this family that makes another backend.
pub(super) fn read(context: &Context<'_>, policy: &mut Policy) {
    let ingress = context.path.and_then(|path| path.ingress);
    if let (Some(true), Some(ingress)) = (context.get(&STANDALONE_BACKEND), ingress) {
        policy.owner = Some(ingress.to_string().into());
    }
}
