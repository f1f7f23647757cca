//! What routes need of the main text: tables of request rates, users.

use outrigger_init::fnv1a;

use super::text::Text;
use super::{Paths, escape};
use crate::cluster::ObjectName;
use crate::model::{Global, Need};

/// The name of HAProxy among its peers: always the same, since the default, the name of the host, is the pod's.
const PEER: &str = "outrigger";

/// The table of request rates for this period and size. Its name has two parts, so it is no backend of a Service.
pub(super) fn rate_table(period: u32, size: u64) -> String {
    format!("rate-limit_{period}-{size}")
}

/// What the entries of a limit begin with.
pub(super) fn rate_entry(key: &str) -> String {
    format!("{:016x}", fnv1a(key.as_bytes()))
}

/// The list of the users of a Secret. Names in Kubernetes have no `_`.
pub(super) fn users_name(secret: &ObjectName) -> String {
    escape::name(&format!("users_{}_{}", secret.namespace, secret.name)).into_owned()
}

/// Lines of the global section.
pub(super) fn write_global(text: &mut Text, global: &Global) {
    if has_tables(global) {
        text.line(format_args!("localpeer {PEER}"));
    }
}

/// Sections. `from` is the text that names the defaults.
pub(super) fn write(text: &mut Text, global: &Global, paths: &Paths<'_>, from: &str) {
    if has_tables(global) {
        // With itself as the only peer, a new worker gets the tables of the old one at a reload. A unix socket does, on 2.2
        // to 3.4, so it takes no port.
        let socket = escape::word(&paths.volumes.run.join("peers.sock").to_string_lossy());
        text.section(format_args!("peers {PEER}"));
        text.line(format_args!("bind unix@{socket} mode 600"));
        text.line(format_args!("server {PEER}"));
    }
    for need in &global.needs {
        match need {
            Need::RateTable { period, size } => {
                text.section(format_args!("backend {}{from}", rate_table(*period, *size)));
                // An entry is 16 digits, a dash and an address.
                text.line(format_args!(
                    "stick-table type string len 64 size {size} expire {period}ms store http_req_rate({period}ms) peers {PEER}"
                ));
            }
            Need::Users(users) => {
                text.section(format_args!("userlist {}", users_name(&users.secret)));
                for (user, hash) in &users.hashes {
                    text.line(format_args!("user {} password {}", escape::word(user), escape::word(hash)));
                }
            }
            // Parts of sections that others write.
            _ => {}
        }
    }
}

fn has_tables(global: &Global) -> bool {
    global.needs.iter().any(|need| matches!(need, Need::RateTable { .. }))
}
