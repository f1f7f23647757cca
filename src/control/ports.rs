//! Which address families exist and which ports are free, asked before HAProxy is told to bind them.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};

/// Whether IPv4 sockets can be made here.
pub fn has_ipv4() -> bool {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).is_ok()
}

/// Whether IPv6 sockets can be made here.
pub fn has_ipv6() -> bool {
    TcpListener::bind((Ipv6Addr::LOCALHOST, 0)).is_ok()
}

/// The addresses that a main configuration text binds.
fn binds(main: &str) -> BTreeSet<SocketAddr> {
    main.lines()
        .filter_map(|line| line.trim_start().strip_prefix("bind "))
        .filter_map(|rest| rest.split_whitespace().next())
        .flat_map(|addresses| addresses.split(','))
        .filter_map(parse_bind)
        .collect()
}

/// Parses the address of a `bind` line as Outrigger writes them: `a.b.c.d:port`, `:port`, `[v6]:port`, `v6:port`.
fn parse_bind(text: &str) -> Option<SocketAddr> {
    if let Ok(address) = text.parse() {
        return Some(address);
    }
    let (address, port) = text.rsplit_once(':')?;
    let address: IpAddr = match address {
        "" | "*" => Ipv4Addr::UNSPECIFIED.into(),
        other => other.trim_start_matches('[').trim_end_matches(']').parse().ok()?,
    };
    Some(SocketAddr::new(address, port.parse().ok()?))
}

/// Addresses that `wanted` binds, that `running` does not bind yet, and that another process holds.
///
/// Only "address in use" counts: the controller may lack a right that HAProxy has (ports below 1024). A port that
/// `running` (the main file on disk) binds on the other family counts as HAProxy's own: a dual-stack socket would hold both.
pub fn taken(running: &str, wanted: &str) -> Vec<SocketAddr> {
    let ours: BTreeSet<u16> = binds(running).iter().map(SocketAddr::port).collect();
    binds(wanted)
        .into_iter()
        .filter(|address| !ours.contains(&address.port()))
        .filter(|address| matches!(try_bind(*address), Err(error) if error.kind() == ErrorKind::AddrInUse))
        .collect()
}

fn try_bind(address: SocketAddr) -> std::io::Result<()> {
    // A standard IPv6 socket for `[::]` is dual-stack, HAProxy's is not (`v6only`): a port that is taken on IPv4 alone must
    // not be reported for IPv6, so the unspecified address is tried on loopback.
    let address = match address {
        SocketAddr::V6(v6) if v6.ip().is_unspecified() => SocketAddr::from((Ipv6Addr::LOCALHOST, v6.port())),
        other => other,
    };
    TcpListener::bind(address).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bind_lines_are_understood() {
        let text = "frontend a\n  bind 0.0.0.0:8080\n  bind [::1]:8443,127.0.0.1:8443 v6only\n  bind [::]:8080 v6only\n  bind :1024\n  bind unix@/x\n";
        let expected: BTreeSet<SocketAddr> =
            ["0.0.0.0:8080", "[::1]:8443", "127.0.0.1:8443", "[::]:8080", "0.0.0.0:1024"]
                .iter()
                .map(|a| a.parse().unwrap())
                .collect();
        assert_eq!(binds(text), expected);
    }

    #[test]
    fn a_port_of_another_process_is_found_unless_haproxy_has_it_already() {
        let other = TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0)).unwrap();
        let address = other.local_addr().unwrap();
        let main = format!("frontend a\n  bind {address}\n");
        assert_eq!(taken("", &main), [address]);
        assert_eq!(taken(&main, &main), []);
    }
}
