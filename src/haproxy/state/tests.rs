use std::path::Path;

use super::*;
use crate::haproxy::testing::{BRANCHES, backend};

fn fixture(name: &str, branch: &str) -> String {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("src/haproxy/fixtures/{name}-{branch}.txt"));
    std::fs::read_to_string(path).unwrap().trim_end_matches("\n\nmaster> ").to_owned()
}

#[test]
fn servers_of_all_branches() {
    for branch in BRANCHES {
        let backends = parse_servers_state(&fixture("show-servers-state", branch)).unwrap();
        assert_eq!(backends.len(), 1, "{branch}");
        let servers = &backends[&backend("b1")];
        let slot = ServerRunning { address: "127.0.0.1".parse().ok(), port: 1, weight: 1, maintenance: true };
        assert_eq!(servers["t1"], slot, "{branch}");
        let server =
            ServerRunning { address: "10.0.0.1".parse().ok(), port: 80, weight: 5, maintenance: false };
        assert_eq!(servers["10-0-0-1_80"], server, "{branch}");
        let drained =
            ServerRunning { address: "2001:db8::1".parse().ok(), port: 8080, weight: 0, maintenance: false };
        assert_eq!(servers["v6"], drained, "{branch}");
        assert_eq!(servers.len(), 4, "{branch}");
    }
}

#[test]
fn info_of_all_branches() {
    for branch in BRANCHES {
        let info = parse_info(&fixture("show-info", branch)).unwrap();
        assert!(info.pid > 1 && info.maxconn > 100 && info.ulimit_n > 100, "{branch}");
        assert!(info.values["Version"].starts_with(branch));
        assert_eq!(info.description, None);
    }
    assert_eq!(
        parse_info("Pid: 7\ndescription: outrigger-a\n").unwrap().description.as_deref(),
        Some("outrigger-a")
    );
    assert!(parse_info("Can't find the target PID matching the prefix '@1'").is_err());
}

#[test]
fn maps() {
    let map = parse_map("0x55d0 /a backend with spaces\n0x7f /b x\n0x7f /a later\n0x1 /empty").unwrap();
    assert_eq!(map.len(), 3);
    assert_eq!(&*map["/a"], "backend with spaces");
    assert_eq!(&*map["/empty"], "");
    assert!(parse_map("Unknown map identifier. Please use #<id> or <file>.").is_err());
    assert!(parse_map("").unwrap().is_empty());
}

#[test]
fn certificates() {
    let folder = Path::new("/var/lib/haproxy/certs");
    let text = "# transaction\n*/var/lib/haproxy/certs/b.pem\n# filename\n/var/lib/haproxy/certs/b.pem\n\
                /var/lib/haproxy/certs/default.pem\n/elsewhere/c.pem\n";
    let files = parse_certificates(text, folder);
    assert_eq!(files.iter().map(AsRef::as_ref).collect::<Vec<&str>>(), ["b.pem", "default.pem"]);
    let text = "# /var/lib/haproxy/https.crt-list\n/var/lib/haproxy/certs/default.pem:1\n\
                /var/lib/haproxy/certs/b.pem:2 a.test *.b.test\n\
                /var/lib/haproxy/certs/c.pem:3 [alpn h2,http/1.1] c.test\n/var/lib/haproxy/certs/c.pem:4 d.test\n";
    let list = parse_crt_list(text, folder);
    assert_eq!(&*list["default.pem"], "");
    assert_eq!(&*list["b.pem"], "a.test *.b.test");
    assert_eq!(&*list["c.pem"], "c.test d.test");
}

#[test]
fn other_answers_are_refused() {
    for text in ["", "Can't find backend.", "1\n", "2\n# be_id be_name\n", "1\n# be_id be_name\n4 b\n"] {
        assert!(parse_servers_state(text).is_err(), "{text:?}");
    }
}
