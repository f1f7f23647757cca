//! The allow-list: fetches and converters that all branches from 2.2 have, and that read nothing but the request, the
//! response and the connection.

use super::Kind::{self, Address, Boolean, Bytes, Number, Text};
use super::Moment::{self, Request, Response};

/// What an argument may be.
#[derive(Debug, Clone, Copy)]
pub enum Argument {
    /// Name of a header, cookie or parameter: letters, digits, `-`, `_`, `.`.
    Name,
    /// A number.
    Unsigned,
    /// A number, perhaps negative.
    Signed,
    /// A number above zero.
    Positive,
    /// A prefix length of IPv4.
    Bits,
    /// One character.
    Delimiter,
    /// One of these.
    OneOf(&'static [&'static str]),
}

/// The arguments of a fetch or converter.
#[derive(Debug)]
pub struct Takes {
    /// How many there must be.
    pub least: usize,
    /// All of them.
    pub arguments: &'static [Argument],
}

/// A sample fetch.
#[derive(Debug)]
pub struct Fetch {
    /// Name.
    pub name: &'static str,
    /// Arguments.
    pub takes: Takes,
    /// What it gives.
    pub gives: Kind,
    /// Where it is known.
    pub at: &'static [Moment],
}

/// A converter.
#[derive(Debug)]
pub struct Converter {
    /// Name.
    pub name: &'static str,
    /// Arguments.
    pub takes: Takes,
    /// What it converts.
    pub from: Kind,
    /// What it gives; `None` for the kind that it got.
    pub gives: Option<Kind>,
}

const NONE: Takes = Takes { least: 0, arguments: &[] };
const NAME: Takes = Takes { least: 1, arguments: &[Argument::Name] };
/// A name, and which one of several.
const OCCURRENCE: Takes = Takes { least: 1, arguments: &[Argument::Name, Argument::Signed] };
const OPTIONAL_NAME: Takes = Takes { least: 0, arguments: &[Argument::Name] };
/// An attribute of a distinguished name, and which one of several.
const ATTRIBUTE: Takes = Takes { least: 0, arguments: &[Argument::Name, Argument::Signed] };
const NUMBER: Takes = Takes { least: 1, arguments: &[Argument::Signed] };
const DIVISOR: Takes = Takes { least: 1, arguments: &[Argument::Positive] };
const PART: Takes = Takes { least: 2, arguments: &[Argument::Signed, Argument::Delimiter] };
const RANGE: Takes = Takes { least: 1, arguments: &[Argument::Unsigned, Argument::Unsigned] };

const fn request(name: &'static str, takes: Takes, gives: Kind) -> Fetch {
    Fetch { name, takes, gives, at: &[Request] }
}

const fn response(name: &'static str, takes: Takes, gives: Kind) -> Fetch {
    Fetch { name, takes, gives, at: &[Response] }
}

const fn always(name: &'static str, takes: Takes, gives: Kind) -> Fetch {
    Fetch { name, takes, gives, at: &[Request, Response] }
}

/// Sample fetches.
pub static FETCHES: &[Fetch] = &[
    // The request. `hdr`, `cook` and their kind mean the request there.
    request("base", NONE, Text),
    request("cookie", NAME, Text),
    request("hdr", OCCURRENCE, Text),
    request("hdr_cnt", OPTIONAL_NAME, Number),
    request("hdr_ip", OCCURRENCE, Address),
    request("hdr_val", OCCURRENCE, Number),
    // Of a kind of its own that becomes text or bytes, and no number.
    request("method", NONE, Bytes),
    request("path", NONE, Text),
    request("query", NONE, Text),
    request("req.cook", NAME, Text),
    request("req.cook_cnt", NAME, Number),
    request("req.cook_val", NAME, Number),
    request("req.fhdr", OCCURRENCE, Text),
    request("req.fhdr_cnt", OPTIONAL_NAME, Number),
    request("req.hdr", OCCURRENCE, Text),
    request("req.hdr_cnt", OPTIONAL_NAME, Number),
    request("req.hdr_ip", OCCURRENCE, Address),
    request("req.hdr_val", OCCURRENCE, Number),
    request("req.ver", NONE, Text),
    request("req_ver", NONE, Text),
    request("url", NONE, Text),
    request("url_param", NAME, Text),
    request("urlp", NAME, Text),
    request("urlp_val", NAME, Number),
    // The response.
    response("res.cook", NAME, Text),
    response("res.fhdr", OCCURRENCE, Text),
    response("res.fhdr_cnt", OPTIONAL_NAME, Number),
    response("res.hdr", OCCURRENCE, Text),
    response("res.hdr_cnt", OPTIONAL_NAME, Number),
    response("res.hdr_ip", OCCURRENCE, Address),
    response("res.hdr_val", OCCURRENCE, Number),
    response("res.ver", NONE, Text),
    response("status", NONE, Number),
    // The connection.
    always("dst", NONE, Address),
    always("dst_port", NONE, Number),
    always("fc_http_major", NONE, Number),
    always("http_first_req", NONE, Boolean),
    always("src", NONE, Address),
    always("src_is_local", NONE, Boolean),
    always("src_port", NONE, Number),
    // TLS.
    always("ssl_c_i_dn", ATTRIBUTE, Text),
    always("ssl_c_notafter", NONE, Text),
    always("ssl_c_notbefore", NONE, Text),
    always("ssl_c_s_dn", ATTRIBUTE, Text),
    always("ssl_c_serial", NONE, Bytes),
    always("ssl_c_sha1", NONE, Bytes),
    always("ssl_c_used", NONE, Boolean),
    always("ssl_c_verify", NONE, Number),
    always("ssl_fc", NONE, Boolean),
    always("ssl_fc_alg_keysize", NONE, Number),
    always("ssl_fc_alpn", NONE, Text),
    always("ssl_fc_cipher", NONE, Text),
    always("ssl_fc_has_crt", NONE, Boolean),
    always("ssl_fc_has_sni", NONE, Boolean),
    always("ssl_fc_is_resumed", NONE, Boolean),
    always("ssl_fc_protocol", NONE, Text),
    always("ssl_fc_session_id", NONE, Bytes),
    always("ssl_fc_sni", NONE, Text),
    always("ssl_fc_use_keysize", NONE, Number),
    // The proxy.
    always("date", NONE, Number),
    always("fe_name", NONE, Text),
    always("hostname", NONE, Text),
    always("rand", Takes { least: 0, arguments: &[Argument::Positive] }, Number),
    always("unique-id", NONE, Text),
    always("uuid", NONE, Text),
];

const fn converter(name: &'static str, takes: Takes, from: Kind, gives: Kind) -> Converter {
    Converter { name, takes, from, gives: Some(gives) }
}

/// Converters.
pub static CONVERTERS: &[Converter] = &[
    Converter { name: "bytes", takes: RANGE, from: Bytes, gives: None },
    converter("add", NUMBER, Number, Number),
    converter("b64dec", NONE, Text, Bytes),
    converter("base64", NONE, Bytes, Text),
    converter("bool", NONE, Number, Boolean),
    converter("crc32", NONE, Bytes, Number),
    converter("div", DIVISOR, Number, Number),
    converter("djb2", NONE, Bytes, Number),
    converter("field", PART, Text, Text),
    converter("hex", NONE, Bytes, Text),
    converter("http_date", NONE, Number, Text),
    converter("ipmask", Takes { least: 1, arguments: &[Argument::Bits] }, Address, Address),
    converter(
        "json",
        Takes { least: 1, arguments: &[Argument::OneOf(&["utf8", "utf8s", "ascii"])] },
        Text,
        Text,
    ),
    converter("length", NONE, Text, Number),
    converter("lower", NONE, Text, Text),
    converter("mod", DIVISOR, Number, Number),
    converter("mul", NUMBER, Number, Number),
    converter("not", NONE, Number, Boolean),
    converter("sdbm", NONE, Bytes, Number),
    converter("sha1", NONE, Bytes, Bytes),
    converter("sub", NUMBER, Number, Number),
    converter("upper", NONE, Text, Text),
    converter("url_dec", NONE, Text, Text),
    converter("word", PART, Text, Text),
    converter("xxh32", NONE, Bytes, Number),
    converter("xxh64", NONE, Bytes, Number),
];

impl Argument {
    /// A value that is allowed, for tests and documentation.
    pub fn example(self) -> &'static str {
        match self {
            Self::Name => "x-name",
            Self::Unsigned | Self::Positive => "2",
            Self::Signed => "-1",
            Self::Bits => "24",
            Self::Delimiter => "/",
            Self::OneOf(words) => words.first().copied().unwrap_or_default(),
        }
    }
}

impl Takes {
    /// A name with the first so many of its arguments.
    pub fn call(&self, name: &str, count: usize) -> String {
        if count == 0 {
            return name.to_owned();
        }
        let arguments: Vec<&str> =
            self.arguments.iter().take(count).map(|argument| argument.example()).collect();
        format!("{name}({})", arguments.join(","))
    }
}
