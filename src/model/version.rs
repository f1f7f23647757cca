//! What each HAProxy version can do. Source: `show proc` of the running binary and the tests on real binaries.

use std::fmt;

/// HAProxy version, as far as it matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    /// Major.
    pub major: u16,
    /// Minor: with the major, the branch.
    pub minor: u16,
}

impl Version {
    /// The oldest branch that is driven.
    pub const OLDEST: Self = Self { major: 2, minor: 2 };
    /// The newest branch that was tried; anything newer is treated as this.
    pub const NEWEST: Self = Self { major: 3, minor: 4 };

    /// Parses the beginning of a version text such as `3.0.11-1+deb13u2` or `3.5-dev3`.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = parts(text);
        Some(Self { major: parts.next()?.parse().ok()?, minor: parts.next()?.parse().ok()? })
    }
}

/// The parts of a version text: major, minor, patch, and what a package adds.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    text.trim().split(['.', '-', '+', '~'])
}

/// Whether `del server` may be said to a release, given as HAProxy prints it (`2.6.12-1+deb12u4`).
///
/// Earlier releases of these branches free a server that streams still refer to, and the worker crashes some time later
/// (observed with 2.6.12; HAProxy's issues 2298, 2733 and 3177). The numbers are of the first releases whose change logs have
/// all of: "don't delete a dynamic server that has streams", "fix stream crash due to deleted server", "fix race on servers_list
/// during server deletion", "close a race around ready_srv when deleting a server" (3.2 alone). 2.7 ended before them.
fn deletes_servers_safely(release: &str) -> bool {
    let Some(Version { major, minor }) = Version::parse(release) else { return false };
    let patch = parts(release).nth(2).and_then(|part| part.parse::<u16>().ok()).unwrap_or(0);
    match (major, minor) {
        (2, 8 | 9) => patch >= 12,
        (3, 0) => patch >= 6,
        (3, 2) => patch >= 8,
        (2, 6) => patch >= 20,
        (0..=2, _) => false,
        _ => true,
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// What a HAProxy version can do; asked instead of comparing versions all over the code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capabilities {
    /// The version they belong to.
    pub version: Version,
    /// Whether `del server` may be said. Not to every release of a branch.
    deletes_servers: bool,
}

impl Capabilities {
    /// Capabilities of a version; one newer than any known is treated as the newest known, one older than
    /// [`Version::OLDEST`] is `None`.
    pub fn of(version: Version) -> Option<Self> {
        (version >= Version::OLDEST)
            .then(|| Self { version: version.min(Version::NEWEST), deletes_servers: true })
    }

    /// The same of a release as HAProxy prints it.
    pub fn of_release(text: &str) -> Option<Self> {
        let capabilities = Self::of(Version::parse(text)?)?;
        Some(Self { deletes_servers: deletes_servers_safely(text), ..capabilities })
    }

    /// `del server` does what it says and no harm. Where it does not, servers stay in maintenance until the next reload.
    pub fn deletes_servers(self) -> bool {
        self.deletes_servers
    }

    fn since(self, major: u16, minor: u16) -> bool {
        self.version >= Version { major, minor }
    }

    /// `add server` and `del server` work over the master CLI without experimental mode (2.6).
    pub fn dynamic_servers(self) -> bool {
        self.since(2, 6)
    }

    /// A proxy can name its `defaults` section (2.4).
    pub fn named_defaults(self) -> bool {
        self.since(2, 4)
    }

    /// `reload` answers `Success=0|1` with the log after the load (2.7).
    pub fn synchronous_reload(self) -> bool {
        self.since(2, 7)
    }

    /// `option idle-close-on-response` (2.4 branch, 2022).
    pub fn idle_close_on_response(self) -> bool {
        self.since(2, 6)
    }

    /// A new worker gets the listening sockets of the old one by itself (2.6); before, only over a `stats socket` with
    /// `expose-fd listeners`.
    pub fn inherits_listeners(self) -> bool {
        self.since(2, 6)
    }

    /// `lua-load-per-thread`: no lock around scripts (2.4).
    pub fn lua_per_thread(self) -> bool {
        self.since(2, 4)
    }

    /// Global `tune.lua.bool-sample-conversion` (3.1).
    pub fn lua_boolean_conversion(self) -> bool {
        self.since(3, 1)
    }

    /// `ca-file @system-ca` (2.6).
    pub fn system_authorities(self) -> bool {
        self.since(2, 6)
    }

    /// `tcp-request content set-log-level` (2.6).
    pub fn silences_connections(self) -> bool {
        self.since(2, 6)
    }

    /// A map can be replaced as a whole (`prepare map`, `commit map`, 2.4).
    pub fn map_versions(self) -> bool {
        self.since(2, 4)
    }

    /// Global `fd-hard-limit` (2.6).
    pub fn fd_hard_limit(self) -> bool {
        self.since(2, 6)
    }

    /// `set-src` counts for one request (2.5); before, for all further ones of the connection, too.
    pub fn source_per_request(self) -> bool {
        self.since(2, 6)
    }

    /// Log formats `local`, `priority`, `timed` and `iso` (2.3).
    pub fn newer_syslog_formats(self) -> bool {
        self.since(2, 3)
    }

    /// `%HPO` in log formats (2.4).
    pub fn path_only_in_logs(self) -> bool {
        self.since(2, 4)
    }

    /// The exporter takes `metrics=` (3.0).
    pub fn chooses_metrics(self) -> bool {
        self.since(3, 0)
    }
    /// `balance hash <expression>` (2.6).
    pub fn balance_by_expression(self) -> bool {
        self.since(2, 6)
    }

    /// WebSockets go to a server over HTTP/1.1 although ALPN offers HTTP/2 for other requests (2.5, keyword `ws`).
    pub fn websockets_beside_http2(self) -> bool {
        self.since(2, 5)
    }

    /// `retry-on 401` and `403` (not in 2.2).
    pub fn retries_on_refusal(self) -> bool {
        self.since(2, 6)
    }

    /// `add server` takes `cookie` (3.0).
    pub fn dynamic_server_cookies(self) -> bool {
        self.since(3, 0)
    }

    /// The Host header is the server name of TLS to servers unless `no-sni-auto` (3.3).
    pub fn automatic_server_name(self) -> bool {
        self.since(3, 3)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_as_packages_print_them() {
        let version = |major, minor| Some(Version { major, minor });
        assert_eq!(Version::parse("2.2.9-2+deb11u6"), version(2, 2));
        assert_eq!(Version::parse("3.5-dev3"), version(3, 5));
        assert_eq!(Version::parse("3.0~rc1"), version(3, 0));
        assert_eq!(Version::parse("unknown"), None);
    }

    #[test]
    fn releases_that_crash_after_a_deletion_are_known() {
        for release in
            ["2.4.30", "2.6.12-1+deb12u4", "2.6.19", "2.7.12", "2.8.11", "3.0.5", "3.2-dev9", "3.2.7-0", "x"]
        {
            assert!(!deletes_servers_safely(release), "{release}");
        }
        for release in
            ["2.6.20", "2.8.12-1ppa1~jammy", "2.9.15", "3.0.11-1+deb13u5", "3.1.0", "3.2.26-1", "3.5-dev3"]
        {
            assert!(deletes_servers_safely(release), "{release}");
        }
    }

    #[test]
    fn too_old_is_refused_and_too_new_is_like_the_newest() {
        assert_eq!(Capabilities::of(Version { major: 2, minor: 1 }), None);
        assert_eq!(Capabilities::of(Version { major: 4, minor: 0 }), Capabilities::of(Version::NEWEST));
    }
}
