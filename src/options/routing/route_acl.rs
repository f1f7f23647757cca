//! `route-acl`.

use crate::options::condition::{Expression, expression};
use crate::options::{Chapter, Effect, Entry, Key, Scope};

/// Which requests a Service gets of those for its paths.
pub static ROUTE_ACL: Key<Expression> = Key {
    entry: Entry {
        name: "route-acl",
        aliases: &[],
        chapter: Chapter::Routing,
        scopes: &[Scope::Service],
        allowed: "one test in HAProxy's ACL language, with the samples, converters and flags that are listed here",
        default: "none: the Service gets all requests",
        docs: "Of several Services on the same host and path, in Ingresses of one namespace, this one gets the requests that \
               pass the test; the others go to the Service without `route-acl`, or, when there is none, to the default \
               backend. A test is `SAMPLE [-i] [-m METHOD] [VALUE…]`. Samples: `cookie(NAME)`, `hdr(NAME)`, `req.fhdr(NAME)`, \
               their `_cnt`, `url_param(NAME)`, `path`, `url`, `query`, `method`, `src`, `ssl_fc`, `rand(N)`; with suffix \
               where HAProxy has it (`path_reg`, `hdr_sub(NAME)`). Converters: `lower`, `upper`, `length`, `url_dec`, \
               `mod(N)`. `method` has methods of requests as values and no flags. Methods: `found`, `str`, `beg`, `end`, `sub`, `dir`, `dom`, `reg`, `len`, `int`, `bool`, `ip`. Values \
               in quotes may hold spaces; regular expressions must be as plain as those of `path-type`. When several \
               Services of a path have tests, general tests come first, then those of a header, then those of a cookie. A \
               Service whose test is not valid gets no requests. A new test is a reload, for how many paths ever; only the \
               values of `cookie(NAME) VALUE` and `req.fhdr(NAME) VALUE` change while HAProxy runs.",
        example: "cookie(staging) -m found",
        effect: Effect::Reload,
    },
    parse: expression,
};
