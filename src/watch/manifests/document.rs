//! The text of a manifest → objects, and what is wrong with it at which row and column.

use std::collections::BTreeMap;

use k8s_openapi::Metadata;
use k8s_openapi::api::{core::v1 as core, discovery::v1 as discovery, networking::v1 as networking};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_saphyr::{DefaultMessageFormatter, MessageFormatter, Options, Spanned};

use super::custom;
use crate::cluster::{Object, Origin};
use crate::problem::{Code, Problem, Severity};
use crate::watch::convert::Convert;

/// What a file holds.
#[derive(Debug, Default)]
pub(super) struct Parsed {
    /// In order of the file.
    pub(super) objects: Vec<Object>,
    pub(super) problems: Vec<Problem>,
    /// How many objects of which kind were not for us.
    pub(super) skipped: BTreeMap<String, usize>,
    /// Part of the file cannot be understood.
    pub(super) is_broken: bool,
}

/// The fields that say what a document is.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Header {
    api_version: Option<String>,
    kind: Option<String>,
}

/// Any list. The rows and columns of its items are known, those of the fields in them are not.
#[derive(Debug, Deserialize)]
struct List {
    #[serde(default)]
    items: Option<Vec<Spanned<Value>>>,
}

/// Row and column, from 1.
type Place = (u64, u64);
/// Where, when that is known better than "in this object", and what.
type Failure = (Option<Place>, String);

/// Parses all documents of a file; a broken one does not stop the others.
pub(super) fn parse(origin: &Origin, text: &str) -> Parsed {
    let mut parsed = Parsed::default();
    for document in split(text) {
        parsed.document(origin, &document);
    }
    parsed
}

/// One document of a stream.
#[derive(Debug, PartialEq, Eq)]
struct Document<'a> {
    text: &'a str,
    /// Rows of the file before it.
    rows_before: u64,
    /// The first row that is not empty, a comment or a marker.
    first_row: u64,
}

/// Cuts a stream into documents. A line that starts with `---` is a marker wherever it stands, also inside a block of text
/// (YAML 1.2, 9.1.2). Directives (`%YAML 1.2`) and comments belong to the document after them.
fn split(text: &str) -> Vec<Document<'_>> {
    let mut documents = Vec::new();
    let (mut start, mut rows_before, mut first_row, mut is_marked, mut at) = (0, 0, None, false, 0);
    for (row, line) in (0_u64..).zip(text.split_inclusive('\n')) {
        let after_marker = line
            .strip_prefix("---")
            .filter(|rest| rest.is_empty() || rest.starts_with([' ', '\t', '\r', '\n']));
        if after_marker.is_some() {
            if let Some(first_row) = first_row.take() {
                documents.push(Document { text: &text[start..at], rows_before, first_row });
                (start, rows_before) = (at, row);
            } else if is_marked {
                (start, rows_before) = (at, row);
            }
            is_marked = true;
        }
        let content = after_marker.unwrap_or(line).trim();
        if !content.is_empty() && !content.starts_with(['%', '#']) {
            first_row.get_or_insert(row + 1);
        }
        at += line.len();
    }
    if let Some(first_row) = first_row {
        documents.push(Document { text: &text[start..], rows_before, first_row });
    }
    documents
}

impl Parsed {
    fn document(&mut self, origin: &Origin, document: &Document<'_>) {
        let start = (document.first_row, 1);
        let whole = Content::Text(document.text);
        let result = whole.read::<Option<Header>>().and_then(|header| match header {
            None => Ok(()),
            Some(header) if header.kind.as_deref().is_some_and(|kind| kind.ends_with("List")) => {
                let list: List = whole.read()?;
                for item in list.items.unwrap_or_default() {
                    let place = (document.rows_before + item.referenced.line(), item.referenced.column());
                    self.item(origin, &header, place, &item.value);
                }
                Ok(())
            }
            Some(header) => self.object(origin, &header, start, &whole),
        });
        if let Err((place, message)) = result {
            let place = place.map_or(start, |(row, column)| (document.rows_before + row, column));
            self.broken(origin, place, &message);
        }
    }

    /// An item of a list; in a list of one kind the items need not say which.
    fn item(&mut self, origin: &Origin, list: &Header, place: Place, value: &Value) {
        let field = |name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
        let of_list =
            list.kind.as_deref().and_then(|kind| kind.strip_suffix("List")).filter(|kind| !kind.is_empty());
        let header = Header {
            api_version: field("apiVersion").or_else(|| list.api_version.clone()),
            kind: field("kind").or_else(|| of_list.map(str::to_owned)),
        };
        if let Err((_, message)) = self.object(origin, &header, place, &Content::Value(value)) {
            self.broken(origin, place, &message);
        }
    }

    /// One object that starts at `place`.
    fn object(
        &mut self,
        origin: &Origin,
        header: &Header,
        place: Place,
        content: &Content<'_>,
    ) -> Result<(), Failure> {
        let (Some(version), Some(kind)) = (header.api_version.as_deref(), header.kind.as_deref()) else {
            let missing = if header.kind.is_none() { "kind" } else { "apiVersion" };
            return Err((None, format!("an object without `{missing}`")));
        };
        let object = match (version, kind) {
            ("networking.k8s.io/v1", "Ingress") => content.object::<networking::Ingress>()?,
            ("networking.k8s.io/v1", "IngressClass") => content.object::<networking::IngressClass>()?,
            ("v1", "Service") => content.object::<core::Service>()?,
            ("discovery.k8s.io/v1", "EndpointSlice") => content.object::<discovery::EndpointSlice>()?,
            ("v1", "Secret") => content.object::<core::Secret>()?,
            ("v1", "ConfigMap") => content.object::<core::ConfigMap>()?,
            _ => {
                let (row, column) = place;
                let mut problem = |code, message: String, hint: &str| {
                    let (origin, severity, hint) = (origin.clone(), Severity::Error, hint.to_owned());
                    self.problems.push(Problem { origin, code, severity, message, hint });
                };
                if let Some(hint) = removed(version, kind) {
                    let message = format!("{row}:{column}: Kubernetes has removed `{version}` of {kind}");
                    problem(Code::ApiVersionRemoved, message, hint);
                } else if let Some(hint) = custom::instead(version, kind) {
                    let message =
                        format!("{row}:{column}: custom resource `{kind}` of `{version}` has no effect");
                    problem(Code::CustomResourceIgnored, message, hint);
                } else {
                    self.skip(kind);
                }
                return Ok(());
            }
        };
        match object {
            Some(object) => self.objects.push(object),
            // A slice of addresses that are names, or of no Service.
            None => self.skip(kind),
        }
        Ok(())
    }

    fn skip(&mut self, kind: &str) {
        *self.skipped.entry(kind.to_owned()).or_default() += 1;
    }

    fn broken(&mut self, origin: &Origin, (row, column): Place, message: &str) {
        self.is_broken = true;
        self.problems.push(Problem {
            origin: origin.clone(),
            code: Code::ManifestInvalid,
            severity: Severity::Error,
            message: format!("{row}:{column}: {message}"),
            hint: "mend the file; until then its last good objects stay".to_owned(),
        });
    }
}

/// What to write instead of an API version that Kubernetes has removed.
fn removed(version: &str, kind: &str) -> Option<&'static str> {
    match (version, kind) {
        ("extensions/v1beta1" | "networking.k8s.io/v1beta1", "Ingress") => Some(
            "write `apiVersion: networking.k8s.io/v1`, give each path a `pathType`, and `service: {name: …, port: {number: …}}` \
             instead of `serviceName` and `servicePort`",
        ),
        ("networking.k8s.io/v1beta1", "IngressClass") => Some("write `apiVersion: networking.k8s.io/v1`"),
        ("discovery.k8s.io/v1beta1", "EndpointSlice") => {
            Some("write `apiVersion: discovery.k8s.io/v1`, with `nodeName` and `zone` instead of `topology`")
        }
        _ => None,
    }
}

/// A document or a part of one.
enum Content<'a> {
    Text(&'a str),
    Value(&'a Value),
}

impl Content<'_> {
    /// Reads any API object.
    fn object<T>(&self) -> Result<Option<Object>, Failure>
    where
        T: Convert + DeserializeOwned + Metadata<Ty = ObjectMeta>,
    {
        let mut object: T = self.read()?;
        let meta = object.metadata_mut();
        if meta.name.as_ref().is_none_or(String::is_empty) {
            return Err((None, format!("{} without `metadata.name`", T::KIND)));
        }
        // `kubectl` does the same for the kinds that have a namespace; the others ignore it.
        meta.namespace.get_or_insert_with(|| "default".to_owned());
        Ok(object.convert())
    }

    fn read<T: DeserializeOwned>(&self) -> Result<T, Failure> {
        match self {
            Self::Text(text) => serde_saphyr::from_str_with_options(text, yaml()).map_err(|error| {
                let place = error.location().map(|location| (location.line(), location.column()));
                (place, DefaultMessageFormatter.format_message(error.without_snippet()).into_owned())
            }),
            Self::Value(value) => T::deserialize(*value).map_err(|error| (None, error.to_string())),
        }
    }
}

/// Like `kubectl`: a number or `true` is not a text unless quoted. Lists of thousands of objects are usual.
fn yaml() -> Options {
    serde_saphyr::options! {
        no_schema: true,
        with_snippet: false,
        budget: serde_saphyr::budget! {
            max_events: 100_000_000,
            max_nodes: 50_000_000,
            max_total_scalar_bytes: 1 << 30,
        },
    }
}

#[cfg(test)]
mod tests;
