//! Raw configuration in a backend.

use super::{Context, Said};
use crate::cluster::{Kind, ObjectRef, Origin};
use crate::model::{Policy, Snippet};
use crate::options::raw::{BACKEND_CONFIG_SNIPPET, Lines, tenant};
use crate::options::{Layer, Scope};
use crate::problem::{Code, Problem, Severity};
use crate::translate::notes::Notes;

/// Reads the keys of this family.
pub(super) fn read(context: &Context<'_>, policy: &mut Policy, notes: &mut Notes) {
    // What is off or refused does not hide what the ConfigMap says.
    let said = layers(context).into_iter().find_map(|(scope, layer)| {
        let said = said(context, scope, layer)?;
        match problem(context, scope, &said) {
            Some(problem) => {
                notes.problems.push(problem);
                None
            }
            None => Some(said),
        }
    });
    if let Some(Said { value, origin, .. }) = said {
        policy.raw.snippet = Some(Snippet { origin, lines: value.into() });
    }
}

/// The layers in the order of lookup.
fn layers<'a>(context: &Context<'a>) -> [(Scope, &'a Layer); 3] {
    let layers = context.layers;
    [(Scope::Service, layers.service), (Scope::Ingress, layers.ingress), (Scope::ConfigMap, layers.config)]
}

fn said(context: &Context<'_>, scope: Scope, layer: &Layer) -> Option<Said<Lines>> {
    let value = layer.get(&BACKEND_CONFIG_SNIPPET)?;
    let (kind, name) = match scope {
        Scope::Service => (Kind::Service, context.path?.service.name.clone()),
        Scope::Ingress => (Kind::Ingress, context.path?.ingress?.clone()),
        Scope::ConfigMap => (Kind::ConfigMap, context.settings.config_map.clone()?),
    };
    let object = ObjectRef { kind, name };
    let origin = Origin { object: object.clone(), key: layer.written_as(&BACKEND_CONFIG_SNIPPET).cloned() };
    Some(Said { value, object, origin })
}

/// Why a snippet does not count.
fn problem(context: &Context<'_>, scope: Scope, said: &Said<Lines>) -> Option<Problem> {
    let rules = context.settings.snippets;
    let tenants = scope != Scope::ConfigMap;
    if tenants && rules.backend && !rules.tenants {
        return Some(Problem {
            origin: said.origin.clone(),
            code: Code::SnippetDisabled,
            severity: Severity::Error,
            message: "snippets of Services and Ingresses are off, so this one has no effect".to_owned(),
            hint: "add `--enable-config-snippets` to the chart value `controller.extraArgs` if whoever may write them is \
                   trusted with HAProxy, or use a key that says the same"
                .to_owned(),
        });
    }
    if !rules.backend {
        return Some(super::super::snippet_disabled(said.origin.clone(), "backend"));
    }
    let reason = if tenants { tenant(&said.value).err()? } else { return None };
    Some(Problem {
        origin: said.origin.clone(),
        code: Code::SnippetRefused,
        severity: Severity::Error,
        message: format!("the snippet has no effect: {reason}"),
        hint: "remove the line, or let the ConfigMap of the controller say it for all backends".to_owned(),
    })
}
