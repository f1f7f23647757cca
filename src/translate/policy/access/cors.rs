//! Cross-origin resource sharing.

use super::{Context, Notes};
use crate::model::policy::access::{Access, Cors, CorsOrigins};
use crate::options::access::{
    CORS_ALLOW_CREDENTIALS, CORS_ALLOW_HEADERS, CORS_ALLOW_METHODS, CORS_ALLOW_ORIGIN, CORS_ENABLE,
    CORS_MAX_AGE, CORS_RESPOND_TO_OPTIONS, DEFAULT_MAX_AGE, Origins,
};
use crate::problem::{Code, Problem, Severity};

/// Reads `cors-enable` and what belongs to it.
pub(super) fn read(context: &Context<'_>, access: &mut Access, notes: &mut Notes) {
    if context.get(&CORS_ENABLE) != Some(true) {
        return;
    }
    // An origin that is not valid must not become all of them.
    let origins = match context.get(&CORS_ALLOW_ORIGIN) {
        None | Some(Origins::Any) if context.layers.refuses(&CORS_ALLOW_ORIGIN) => return,
        None | Some(Origins::Any) => None,
        Some(Origins::Only { exact, matching }) => Some(CorsOrigins { exact, matching }),
    };
    let credentials = context.said(&CORS_ALLOW_CREDENTIALS).filter(|said| said.value);
    if let (Some(said), None) = (&credentials, &origins) {
        notes.problems.push(Problem {
            origin: said.origin.clone(),
            code: Code::KeyIneffective,
            severity: Severity::Warning,
            message: "browsers send no credentials where `cors-allow-origin` is `*`".to_owned(),
            hint: "name the origins in `cors-allow-origin`".to_owned(),
        });
    }
    let preflight = context.get(&CORS_RESPOND_TO_OPTIONS).unwrap_or_else(|| access.login.is_some());
    access.cors = Some(Cors {
        origins,
        methods: context.get(&CORS_ALLOW_METHODS).unwrap_or_else(|| "*".into()),
        headers: context.get(&CORS_ALLOW_HEADERS).unwrap_or_else(|| "*".into()),
        credentials: credentials.is_some(),
        max_age: context.get(&CORS_MAX_AGE).unwrap_or(DEFAULT_MAX_AGE) / 1_000,
        preflight,
    });
}
