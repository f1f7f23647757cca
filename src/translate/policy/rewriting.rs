//! Headers, paths, redirects, captures.

use super::Context;
use crate::model::policy::rewriting::{Format, Header, PathRewrite, Piece, Redirect, Source};
use crate::model::{Need, Policy};
use crate::options::format;
use crate::options::rewriting::{
    DEFAULT_CAPTURE_LENGTH, DEFAULT_REDIRECT_CODE, FORWARDED_FOR, PATH_REWRITE, REQUEST_CAPTURE,
    REQUEST_CAPTURE_LEN, REQUEST_REDIRECT, REQUEST_REDIRECT_CODE, REQUEST_SET_HEADER, RESPONSE_SET_HEADER,
    SET_HOST, SRC_IP_HEADER, SetHeader, TRUSTED_PROXIES,
};
use crate::translate::notes::Notes;

/// Reads the keys of this family.
pub(super) fn read(context: &Context<'_>, policy: &mut Policy, notes: &mut Notes) {
    let rewriting = &mut policy.rewriting;
    if let Some(header) = context.get(&SRC_IP_HEADER) {
        let only_trusted = context.get(&TRUSTED_PROXIES).is_some();
        rewriting.source = Some(Source { header, only_trusted });
        notes.needs.insert(Need::SourceFromHeader);
    }
    if context.get(&FORWARDED_FOR) == Some(false) {
        rewriting.without_forwarded_for = true;
        notes.needs.insert(Need::OptionalForwardedFor);
    }
    let length = context.get(&REQUEST_CAPTURE_LEN).unwrap_or(DEFAULT_CAPTURE_LENGTH);
    for (slot, expression) in (0..).zip(context.get(&REQUEST_CAPTURE).unwrap_or_default()) {
        rewriting.captures.push(expression.cut(length));
        notes.needs.insert(Need::Capture { slot, length });
    }
    if let Some(authority) = context.get(&REQUEST_REDIRECT) {
        let status = context.get(&REQUEST_REDIRECT_CODE).unwrap_or(DEFAULT_REDIRECT_CODE);
        rewriting.redirect = Some(Redirect { authority, status });
    }
    rewriting.request_headers = headers(context.get(&REQUEST_SET_HEADER));
    rewriting.response_headers = headers(context.get(&RESPONSE_SET_HEADER));
    rewriting.host = context.get(&SET_HOST);
    let paths = context.get(&PATH_REWRITE).unwrap_or_default().into_iter();
    rewriting.paths = paths
        .map(|rewrite| PathRewrite {
            pattern: rewrite.pattern.map(|regex| regex.as_str().into()),
            replacement: pieces(rewrite.replacement),
        })
        .collect();
}

fn headers(headers: Option<Vec<SetHeader>>) -> Vec<Header> {
    let headers = headers.unwrap_or_default().into_iter();
    headers.map(|header| Header { name: header.name, value: pieces(header.value) }).collect()
}

fn pieces(pieces: Vec<format::Piece>) -> Format {
    let piece = |piece| match piece {
        format::Piece::Text(text) => Piece::Text(text),
        format::Piece::Sample(expression) => Piece::Sample(expression.as_str().into()),
    };
    pieces.into_iter().map(piece).collect()
}
