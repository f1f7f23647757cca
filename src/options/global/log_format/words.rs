//! What may stand in a log format: what HAProxy 2.2 to 3.4 all accept there (tried on the binaries; a test holds this list
//! against them). Fetches that change something, or that show keys of TLS sessions or the environment, are not among them.

/// Type of a sample, as far as converters care. A converter that cannot take a type refuses the configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Type {
    Text,
    Number,
    Address,
    Binary,
    /// Converters of 2.2 take none.
    Bool,
}

/// What stands in the parentheses of a fetch or converter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Arguments {
    None,
    /// A number up to this one.
    Number(u32),
    /// A number from 1 up to this one.
    Positive(u32),
    /// Nothing, or two numbers: from, how many.
    Range,
    /// A number and a delimiter.
    Piece,
    /// Name of a variable with its scope.
    Variable,
    /// Letters, digits and blanks.
    Word,
    /// Nothing, or one of these.
    Optional(&'static [&'static str]),
    /// One of these.
    Choice(&'static [&'static str]),
    /// A format of times, and perhaps an offset in seconds.
    Time,
    /// Bits of an IPv4 mask, and perhaps of an IPv6 mask.
    Masks,
}

/// Variables of HTTP and TCP.
const VARIABLES: &str = "B H ID ST T Tc Td Th Tl Ts Tt Tu Tw U ac b bc bi bp bq ci cp f fc fi fp ft hr hrl hs hsl lc ms pid rc rt s \
                         sc si sp sq sslc sslv t ts tsc";

/// Variables that HAProxy reserves for HTTP.
const HTTP_VARIABLES: &str = "CC CS HM HP HPO HQ HU HV Ta Ti Tq TR Tr r tr trg trl";

const fn plain(name: &'static str, output: Type) -> (&'static str, Arguments, Type) {
    (name, Arguments::None, output)
}

/// Sample fetches.
pub(super) const FETCHES: &[(&str, Arguments, Type)] = &[
    plain("be_id", Type::Number),
    plain("be_name", Type::Text),
    ("capture.req.hdr", Arguments::Number(49), Type::Text),
    plain("capture.req.method", Type::Text),
    plain("capture.req.uri", Type::Text),
    plain("capture.req.ver", Type::Text),
    ("capture.res.hdr", Arguments::Number(49), Type::Text),
    plain("capture.res.ver", Type::Text),
    ("date", Arguments::Optional(&["0"]), Type::Number),
    plain("date_us", Type::Number),
    plain("dst", Type::Address),
    plain("dst_port", Type::Number),
    plain("fc_http_major", Type::Number),
    plain("fc_rcvd_proxy", Type::Bool),
    ("fc_rtt", Arguments::Optional(&["us", "ms"]), Type::Number),
    ("fc_rttvar", Arguments::Optional(&["us", "ms"]), Type::Number),
    plain("fe_conn", Type::Number),
    plain("fe_defbe", Type::Text),
    plain("fe_id", Type::Number),
    plain("fe_name", Type::Text),
    plain("fe_req_rate", Type::Number),
    plain("fe_sess_rate", Type::Number),
    plain("hostname", Type::Text),
    plain("http_first_req", Type::Bool),
    ("int", Arguments::Number(i32::MAX.unsigned_abs()), Type::Number),
    plain("prio_class", Type::Number),
    plain("prio_offset", Type::Number),
    plain("res.comp", Type::Bool),
    plain("res.comp_algo", Type::Text),
    plain("so_id", Type::Number),
    plain("so_name", Type::Text),
    plain("src", Type::Address),
    plain("src_port", Type::Number),
    plain("srv_id", Type::Number),
    plain("srv_name", Type::Text),
    plain("ssl_bc", Type::Bool),
    plain("ssl_bc_alpn", Type::Text),
    plain("ssl_bc_cipher", Type::Text),
    plain("ssl_bc_protocol", Type::Text),
    plain("ssl_c_err", Type::Number),
    ("ssl_c_i_dn", Arguments::Word, Type::Text),
    plain("ssl_c_notafter", Type::Text),
    plain("ssl_c_notbefore", Type::Text),
    ("ssl_c_s_dn", Arguments::Word, Type::Text),
    plain("ssl_c_serial", Type::Binary),
    plain("ssl_c_sha1", Type::Binary),
    plain("ssl_c_used", Type::Bool),
    plain("ssl_c_verify", Type::Number),
    plain("ssl_f_notafter", Type::Text),
    ("ssl_f_s_dn", Arguments::Word, Type::Text),
    plain("ssl_f_serial", Type::Binary),
    plain("ssl_f_sha1", Type::Binary),
    plain("ssl_fc", Type::Bool),
    plain("ssl_fc_alg_keysize", Type::Number),
    plain("ssl_fc_alpn", Type::Text),
    plain("ssl_fc_cipher", Type::Text),
    plain("ssl_fc_cipherlist_hex", Type::Text),
    plain("ssl_fc_has_crt", Type::Bool),
    plain("ssl_fc_has_sni", Type::Bool),
    plain("ssl_fc_is_resumed", Type::Bool),
    plain("ssl_fc_protocol", Type::Text),
    plain("ssl_fc_sni", Type::Text),
    plain("ssl_fc_use_keysize", Type::Number),
    plain("status", Type::Number),
    plain("stopping", Type::Bool),
    ("str", Arguments::Word, Type::Text),
    plain("thread", Type::Number),
    plain("unique-id", Type::Text),
    plain("uuid", Type::Text),
    ("var", Arguments::Variable, Type::Text),
];

/// Converters of text; they take everything but a [`Type::Bool`].
pub(super) const TEXT_CONVERTERS: &[(&str, Arguments, Type)] = &[
    plain("base64", Type::Text),
    ("bytes", Arguments::Range, Type::Binary),
    plain("crc32", Type::Number),
    ("field", Arguments::Piece, Type::Text),
    plain("hex", Type::Text),
    ("json", Arguments::Optional(&["ascii", "utf8", "utf8s", "utf8p", "utf8ps"]), Type::Text),
    plain("length", Type::Number),
    plain("lower", Type::Text),
    plain("sha1", Type::Binary),
    ("sha2", Arguments::Choice(&["224", "256", "384", "512"]), Type::Binary),
    plain("upper", Type::Text),
    ("url_dec", Arguments::None, Type::Text),
    ("word", Arguments::Piece, Type::Text),
    plain("xxh64", Type::Number),
];

/// Converters of numbers.
pub(super) const NUMBER_CONVERTERS: &[(&str, Arguments, Type)] = &[
    ("add", Arguments::Number(i32::MAX.unsigned_abs()), Type::Number),
    ("div", Arguments::Positive(i32::MAX.unsigned_abs()), Type::Number),
    ("ltime", Arguments::Time, Type::Text),
    ("mod", Arguments::Positive(i32::MAX.unsigned_abs()), Type::Number),
    ("mul", Arguments::Number(i32::MAX.unsigned_abs()), Type::Number),
    ("sub", Arguments::Number(i32::MAX.unsigned_abs()), Type::Number),
    ("utime", Arguments::Time, Type::Text),
];

/// Converters of addresses.
pub(super) const ADDRESS_CONVERTERS: &[(&str, Arguments, Type)] =
    &[("ipmask", Arguments::Masks, Type::Address)];

/// Whether a variable exists, and only HTTP has it.
pub(super) fn variable(name: &str) -> Option<bool> {
    let is_in = |list: &str| list.split(' ').any(|known| known == name);
    if is_in(VARIABLES) { Some(false) } else { is_in(HTTP_VARIABLES).then_some(true) }
}

#[cfg(test)]
pub(super) fn every_variable(http: bool) -> Vec<String> {
    let all = VARIABLES.split(' ').chain(HTTP_VARIABLES.split(' ').filter(|_| http));
    all.map(|name| format!("%{name} %{{+Q,-X,+E,+M}}{name} %{{+Q}}o")).collect()
}

/// Every fetch alone and with every converter that its type allows, with arguments at their limits.
#[cfg(test)]
pub(super) fn every_expression() -> Vec<String> {
    let mut all = Vec::new();
    for (name, arguments, output) in FETCHES {
        for arguments in examples(*arguments) {
            all.push(format!("%[{name}{arguments}]"));
        }
        let first = examples(*arguments)[0];
        for (converter, arguments, _) in converters(*output) {
            for arguments in examples(*arguments) {
                all.push(format!("%{{+Q}}[{name}{first},{converter}{arguments},json(utf8s)]"));
            }
            // What comes out goes into everything that takes it.
            for (next, arguments, _) in converters(output_of(converter)) {
                let (a, b) = (examples(arguments_of(converter))[0], examples(*arguments)[0]);
                all.push(format!("%[{name}{first},{converter}{a},{next}{b}]"));
            }
        }
    }
    all
}

#[cfg(test)]
fn converters(taken: Type) -> impl Iterator<Item = &'static (&'static str, Arguments, Type)> {
    converters_of(taken).into_iter().flatten()
}

#[cfg(test)]
fn named(name: &str) -> &'static (&'static str, Arguments, Type) {
    let all = TEXT_CONVERTERS.iter().chain(NUMBER_CONVERTERS).chain(ADDRESS_CONVERTERS);
    all.into_iter().find(|(known, ..)| *known == name).unwrap()
}

#[cfg(test)]
fn output_of(name: &str) -> Type {
    named(name).2
}

#[cfg(test)]
fn arguments_of(name: &str) -> Arguments {
    named(name).1
}

#[cfg(test)]
fn examples(arguments: Arguments) -> &'static [&'static str] {
    match arguments {
        Arguments::None => &[""],
        Arguments::Number(_) => &["(0)", "(49)"],
        Arguments::Positive(_) => &["(1)", "(2147483647)"],
        Arguments::Range => &["(0)", "(0,1)", "(4,65535)"],
        Arguments::Piece => &["(1,/)", "(9, )", "(1,:)"],
        Arguments::Variable => &["(txn.a.b_c)", "(proc.x)", "(sess.X1)", "(req.x)", "(res.x)"],
        Arguments::Word => &["(CN)"],
        Arguments::Optional(words) if words.contains(&"us") => &["", "(us)", "(ms)"],
        Arguments::Optional(words) if words.contains(&"0") => &["", "(0)"],
        Arguments::Optional(_) => &["", "(utf8s)", "(ascii)", "(utf8)", "(utf8p)", "(utf8ps)"],
        Arguments::Choice(_) => &["(224)", "(256)", "(384)", "(512)"],
        Arguments::Time => &["(%F)", "(%Y-%m-%dT%H:%M:%SZ)", "(%c,3600)"],
        Arguments::Masks => &["(0)", "(32)", "(24,128)"],
    }
}

/// The converters that take this type.
pub(super) fn converters_of(taken: Type) -> [&'static [(&'static str, Arguments, Type)]; 2] {
    match taken {
        Type::Bool => [&[], &[]],
        Type::Text | Type::Binary => [TEXT_CONVERTERS, &[]],
        Type::Number => [TEXT_CONVERTERS, NUMBER_CONVERTERS],
        Type::Address => [TEXT_CONVERTERS, ADDRESS_CONVERTERS],
    }
}
