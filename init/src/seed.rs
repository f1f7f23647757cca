//! The configuration that HAProxy starts with before the controller has said anything.

use std::net::{Ipv4Addr, Ipv6Addr, TcpListener};

use crate::seal;

/// First line of a seed; no generated configuration starts with it.
pub const SEED_MARK: &str = "# outrigger seed";

/// Which address families HAProxy can listen on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Families {
    /// IPv4.
    pub ipv4: bool,
    /// IPv6.
    pub ipv6: bool,
}

impl Families {
    /// Tries what HAProxy will do: listen on the unspecified address. All containers of a pod share the network.
    pub fn detect() -> Self {
        Self {
            ipv4: TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0)).is_ok(),
            ipv6: TcpListener::bind((Ipv6Addr::UNSPECIFIED, 0)).is_ok(),
        }
    }
}

/// A sealed minimal `haproxy.cfg` that starts on HAProxy 2.2 to 3.4 and opens only the health endpoint: `/healthz` 200,
/// `/readyz` 503, anything else 404. Without any family it listens on IPv4.
pub fn seed(healthz_port: u16, families: Families) -> String {
    let mut binds = Vec::new();
    if families.ipv4 || !families.ipv6 {
        binds.push(format!("    bind 0.0.0.0:{healthz_port}\n"));
    }
    if families.ipv6 {
        binds.push(format!("    bind [::]:{healthz_port} v6only\n"));
    }
    let binds = binds.concat();
    // The name of the `defaults`: shards name it from 2.4 on, and they are written before the first real main file.
    // `maxconn`: without it, versions before 2.6 size their tables by the limit of descriptors, which a container runtime
    // may set to a billion. `httpclose`: no probe is lost with a kept connection at the reload that replaces the seed.
    seal(format!(
        r#"{SEED_MARK}
# Only the health endpoint is open until the controller has written a configuration.
global
    maxconn 100

defaults outrigger
    mode http
    option httpclose
    timeout connect 5s
    timeout client 5s
    timeout server 5s
    timeout http-request 5s

frontend healthz
{binds}    http-request return status 200 content-type "text/plain; charset=utf-8" string "ok" if {{ path /healthz }}
    http-request return status 503 content-type "text/plain; charset=utf-8" string "no configuration yet" if {{ path /readyz }}
    http-request return status 404 content-type "text/plain; charset=utf-8" string "not found"
"#
    ))
}

/// Whether a main file is a seed, whole or damaged.
pub(crate) fn is_seed(main: &str) -> bool {
    main.lines().next() == Some(SEED_MARK)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unseal;

    #[test]
    fn listens_on_the_families_that_exist() {
        let of = |ipv4, ipv6| seed(1042, Families { ipv4, ipv6 });
        let (four, six) = ("bind 0.0.0.0:1042\n", "bind [::]:1042 v6only\n");
        assert!(of(true, false).contains(four) && !of(true, false).contains(six));
        assert!(!of(false, true).contains(four) && of(false, true).contains(six));
        assert!(of(true, true).contains(four) && of(true, true).contains(six));
        assert!(of(false, false).contains(four));
    }

    #[test]
    fn is_marked_and_sealed_and_asks_for_nothing_a_container_without_root_lacks() {
        let text = seed(1042, Families { ipv4: true, ipv6: true });
        assert!(is_seed(&text));
        let text = unseal(&text).unwrap();
        for word in text.split_whitespace() {
            assert!(!["chroot", "user", "group", "daemon", "pidfile"].contains(&word), "{word}");
        }
    }
}
