//! What counts for every proxy: timeouts, connection mode, compression.

use super::Context;
use crate::model::Global;
use crate::model::global::defaults::Compression;
use crate::options::Key;
use crate::options::global::{
    COMPRESSION_ALGO, COMPRESSION_TYPE, COMPRESSION_TYPES, DONTLOGNULL, HTTP_CONNECTION_MODE,
    HTTP_KEEP_ALIVE, HTTP_SERVER_CLOSE, LOGASAP, TIMEOUT_CLIENT, TIMEOUT_CLIENT_FIN, TIMEOUT_CONNECT,
    TIMEOUT_HTTP_KEEP_ALIVE, TIMEOUT_HTTP_REQUEST, TIMEOUT_QUEUE, TIMEOUT_SERVER_FIN,
};
use crate::translate::notes::Notes;

/// Reads the keys of this family.
pub(super) fn read(context: &Context<'_>, global: &mut Global, _notes: &mut Notes) {
    let defaults = &mut global.defaults;
    let set = |place: &mut u32, key: &Key<u32>| *place = context.get(key).unwrap_or(*place);
    set(&mut defaults.client, &TIMEOUT_CLIENT);
    set(&mut defaults.connect, &TIMEOUT_CONNECT);
    set(&mut defaults.http_request, &TIMEOUT_HTTP_REQUEST);
    set(&mut defaults.http_keep_alive, &TIMEOUT_HTTP_KEEP_ALIVE);
    set(&mut defaults.queue, &TIMEOUT_QUEUE);
    defaults.client_fin = context.get(&TIMEOUT_CLIENT_FIN);
    defaults.server_fin = context.get(&TIMEOUT_SERVER_FIN);
    defaults.connection_mode = connection_mode(context).unwrap_or(defaults.connection_mode);
    defaults.dontlognull = context.get(&DONTLOGNULL).unwrap_or(defaults.dontlognull);
    defaults.logasap = context.get(&LOGASAP).unwrap_or(defaults.logasap);
    defaults.compression = context.get(&COMPRESSION_ALGO).map(|algorithms| Compression {
        algorithms,
        types: context
            .get(&COMPRESSION_TYPE)
            .unwrap_or_else(|| COMPRESSION_TYPES.into_iter().map(Into::into).collect()),
    });
}

/// The new key wins over the old ones.
fn connection_mode(context: &Context<'_>) -> Option<&'static str> {
    context.get(&HTTP_CONNECTION_MODE).or_else(|| {
        if context.get(&HTTP_SERVER_CLOSE) == Some(true) {
            return Some("http-server-close");
        }
        (context.get(&HTTP_KEEP_ALIVE) == Some(false)).then_some("httpclose")
    })
}
