//! The meaning of runtime commands. `haproxy` owns their spelling and the check of the answers.

use std::net::IpAddr;
use std::sync::Arc;

use bytes::Bytes;

use super::MapId;
use crate::model::BackendName;

/// Administrative state of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerMode {
    /// Takes traffic.
    Ready,
    /// No new traffic, and what runs goes on.
    Maintenance,
}

/// One runtime command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// `add server`: starts in maintenance; `line` is the text behind the name in the file (address and keywords).
    AddServer {
        /// Backend.
        backend: BackendName,
        /// Server name.
        server: Arc<str>,
        /// Address and keywords.
        line: Arc<str>,
    },
    /// Takes the server out of service and deletes it as soon as its last request is done.
    RemoveServer {
        /// Backend.
        backend: BackendName,
        /// Server name.
        server: Arc<str>,
        /// Address and keywords it runs with: a server that comes back equal before its last request is done is kept.
        line: Arc<str>,
    },
    /// `set server … state`.
    SetMode {
        /// Backend.
        backend: BackendName,
        /// Server name.
        server: Arc<str>,
        /// New state.
        mode: ServerMode,
    },
    /// `set server … weight`; 0 drains.
    SetWeight {
        /// Backend.
        backend: BackendName,
        /// Server name.
        server: Arc<str>,
        /// 0 ..= 256.
        weight: u16,
    },
    /// `set maxconn server`; 0 for no limit.
    SetMaximum {
        /// Backend.
        backend: BackendName,
        /// Server name.
        server: Arc<str>,
        /// Most requests at a time.
        maximum: u32,
    },
    /// `enable dynamic-cookie backend`: servers that were added get their cookies.
    MakeCookies {
        /// Backend.
        backend: BackendName,
    },
    /// `set server … addr … port`, for slots.
    SetAddress {
        /// Backend.
        backend: BackendName,
        /// Server name.
        server: Arc<str>,
        /// Address.
        address: IpAddr,
        /// Port.
        port: u16,
    },
    /// Adds a map entry whose key is not in the map.
    AddMapEntry {
        /// Map.
        map: MapId,
        /// Key.
        key: Arc<str>,
        /// Value.
        value: Arc<str>,
    },
    /// Changes the value of a key that is in the map.
    SetMapEntry {
        /// Map.
        map: MapId,
        /// Key.
        key: Arc<str>,
        /// Value.
        value: Arc<str>,
    },
    /// Deletes a key that is in the map.
    DeleteMapEntry {
        /// Map.
        map: MapId,
        /// Key.
        key: Arc<str>,
    },
    /// Replaces all entries of a map at once, in this order (2.4).
    ReplaceMap {
        /// Map.
        map: MapId,
        /// Keys and values.
        entries: Vec<(Arc<str>, Arc<str>)>,
    },
    /// Adds a pattern that is not in the list.
    AddPattern {
        /// File name in the patterns folder.
        list: Arc<str>,
        /// Pattern.
        pattern: Arc<str>,
    },
    /// Deletes a pattern that is in the list.
    DeletePattern {
        /// File name in the patterns folder.
        list: Arc<str>,
        /// Pattern.
        pattern: Arc<str>,
    },
    /// Loads a certificate under a new file name (`new`, `set`, `commit ssl cert`).
    AddCertificate {
        /// File name in the certificate folder.
        file: Arc<str>,
        /// PEM.
        pem: Bytes,
    },
    /// Replaces a loaded certificate (`set`, `commit ssl cert`).
    SetCertificate {
        /// File name in the certificate folder.
        file: Arc<str>,
        /// PEM.
        pem: Bytes,
    },
    /// Unloads a certificate that no list names.
    DeleteCertificate {
        /// File name in the certificate folder.
        file: Arc<str>,
    },
    /// Adds a certificate to the list of the HTTPS listener, for these server names.
    AddToList {
        /// File name in the certificate folder.
        file: Arc<str>,
        /// Server names, space-separated.
        filters: Arc<str>,
    },
    /// Takes the *oldest* line of a certificate off the list of the HTTPS listener. When its filters change there are two
    /// lines for a moment: `del ssl crt-list LIST FILE` then refuses and names the line numbers, of which the lowest is meant
    /// (`del ssl crt-list LIST FILE:LINE`, 2.2 to 3.4).
    RemoveFromList {
        /// File name in the certificate folder.
        file: Arc<str>,
    },
}
