//! Ports of the HTTP and HTTPS listeners.

use super::entry;
use crate::options::value::number;
use crate::options::{Entry, Key};

/// Port of the HTTP listener.
pub static HTTP_PORT: Key<u16> = Key {
    entry: port(
        "http-port",
        "the port of `--http-bind-port` (`8080`)",
        "Port of the HTTP listener; wins over the flag. It is the port in the pod: the Service must lead to it (`targetPort`). Below \
         1024 HAProxy, which is not root, may be refused the port: the pod then needs the sysctl \
         `net.ipv4.ip_unprivileged_port_start: \"0\"`. `--disable-http` still means no HTTP.",
        "8000",
    ),
    parse: |text| number(text, 1..=u16::MAX),
};

/// Port of the HTTPS listener.
pub static HTTPS_PORT: Key<u16> = Key {
    entry: port(
        "https-port",
        "the port of `--https-bind-port` (`8443`)",
        "The same as `http-port` for the HTTPS listener.",
        "8444",
    ),
    parse: |text| number(text, 1..=u16::MAX),
};

const fn port(name: &'static str, default: &'static str, docs: &'static str, example: &'static str) -> Entry {
    entry(name, "a port from 1 to 65535", default, docs, example)
}

#[cfg(test)]
mod tests {
    use super::super::HOSTILE;
    use super::*;

    #[test]
    fn values() {
        assert_eq!((HTTP_PORT.parse)("65535"), Ok(65535));
        for bad in ["0", "65536", "http", "80 ", "80,81", ":80"].iter().chain(&HOSTILE) {
            assert!((HTTP_PORT.parse)(bad).is_err(), "{bad}");
            assert!((HTTPS_PORT.parse)(bad).is_err(), "{bad}");
        }
    }
}
