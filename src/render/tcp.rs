//! TCP services: a frontend each.

use super::frontend::Frontends;
use super::text::Text;
use super::{escape, logs};
use crate::model::global::tcp::Tls;

impl Frontends<'_> {
    /// The frontends of TCP services.
    pub(super) fn write_tcp(&self, text: &mut Text) {
        let capabilities = self.paths.capabilities;
        for (port, service) in &self.global.tcp.services {
            let proxy = if service.accept_proxy { " accept-proxy" } else { "" };
            let tls = match &service.tls {
                Tls::Off => String::new(),
                Tls::Listed => {
                    let list = escape::word(&self.paths.volumes.crt_list().to_string_lossy());
                    format!(" ssl crt-list {list}")
                }
                Tls::Own(certificate) => format!(" ssl crt {}", self.paths.asset(certificate)),
            };
            if !self.open(text, &format!("tcp-{port}"), *port, &format!("{proxy}{tls}")) {
                continue;
            }
            text.line(format_args!("# {}", escape::comment(&service.origin.to_string())));
            text.lines(&["mode tcp"]);
            let line = service.log.as_ref().or(self.global.logs.tcp.as_ref());
            logs::tcp_lines(text, line, self.global.defaults.logasap, capabilities);
            text.line(format_args!("default_backend {}", escape::name(service.backend.as_str())));
        }
    }
}
