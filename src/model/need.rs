//! What routes need of the main text: the frontends and shared sections have it for all of them together.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use super::Test;
use super::policy::auth::AuthHost;
use crate::cluster::ObjectName;

/// Something that at least one route needs; a new one is a reload.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Need {
    /// A table of request rates: period in milliseconds, number of entries.
    RateTable {
        /// Over how long requests are counted, in milliseconds.
        period: u32,
        /// Number of entries.
        size: u64,
    },
    /// A place for a captured value in the log line.
    Capture {
        /// Which one, from 0.
        slot: u16,
        /// Longest value.
        length: u32,
    },
    /// Some route adds no `X-Forwarded-For`.
    OptionalForwardedFor,
    /// Some route takes the address of the client from a header.
    SourceFromHeader,
    /// The script and the frontend of external authentication.
    ExternalAuth,
    /// A host outside of the cluster that authenticates.
    AuthHost(AuthHost),
    /// Users with the hashes of their passwords.
    Users(Users),
    /// A host with certificates of clients of its own: sessions must not be resumed over hosts.
    ClientChecks,
    /// A host whose TLS is passed through.
    Passthrough,
    /// Name servers, for Services of type ExternalName.
    Resolvers,
    /// Requests of some route are split over backends.
    Split,
    /// Some route looks at this.
    Test(Test),
    /// Some paths are regular expressions.
    RegexPaths,
    /// Some redirect to HTTPS names a port.
    RedirectPort,
}

/// Users of basic authentication.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Users {
    /// The Secret that they come from.
    pub secret: ObjectName,
    /// User → hash of the password, as crypt(3) reads it.
    pub hashes: BTreeMap<Arc<str>, Arc<str>>,
}

impl fmt::Debug for Users {
    /// Without the hashes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Users").field("secret", &self.secret).finish_non_exhaustive()
    }
}
