//! What is accepted from a Secret, and what is said about the rest.

use super::*;
use crate::translate::tests::{EC, EC2, Pair, RSA, secret_with};

fn read(crt: &str, key: &str) -> Result<KeyPair, String> {
    parse(&secret_with("a/t", &[("tls.crt", crt), ("tls.key", key)]))
}

fn text(pair: &KeyPair) -> String {
    String::from_utf8(pair.pem.to_vec()).expect("PEM is text")
}

#[test]
fn one_canonical_pem() {
    let pairs: [(&Pair, KeyType, &str); 2] =
        [(&EC, KeyType::Ecdsa, "PRIVATE KEY"), (&RSA, KeyType::Rsa, "RSA PRIVATE KEY")];
    for ((crt, key), key_type, label) in pairs {
        let plain = read(crt, key).expect("usable");
        assert_eq!(plain.key_type, key_type);
        let pem = text(&plain);
        assert!(pem.starts_with("-----BEGIN CERTIFICATE-----\n"), "{pem}");
        assert!(pem.ends_with(&format!("-----END {label}-----\n")), "{pem}");
        let decorated = format!("subject=CN\n\n{}\n# the end\n", crt.replace('\n', "\r\n"));
        let messy = read(&decorated, &format!("\n\n{}\n\n", key.replace('\n', "\r\n"))).expect("usable");
        assert_eq!(messy.pem, plain.pem);
        let chain = text(&read(&format!("{crt}\n\n{}", EC2.0), key).expect("usable"));
        assert_eq!(chain.matches("BEGIN CERTIFICATE").count(), 2);
        assert!(chain.lines().all(|line| !line.trim().is_empty()), "{chain}");
    }
}

#[test]
fn reasons() {
    let cut = EC.0.replace("-----END CERTIFICATE-----", "");
    let one_line = EC.1.replace('\n', "");
    let garbage = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    let garbage_key = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n";
    for (crt, key, reason) in [
        (&*EC.0, &*EC2.1, "`tls.key` does not belong to the first certificate in `tls.crt`"),
        (&*EC.0, &*RSA.1, "`tls.key` does not belong to the first certificate in `tls.crt`"),
        ("", &*EC.1, "`tls.crt` is empty"),
        ("hello", &*EC.1, "`tls.crt` holds no PEM certificate"),
        (&*cut, &*EC.1, "`tls.crt` has a PEM block without END line (were the line breaks lost?)"),
        (garbage, &*EC.1, "certificate 1 in `tls.crt` is not a valid X.509 certificate"),
        (&*EC.0, &*EC.0, "`tls.key` holds no PEM private key without passphrase"),
        (&*EC.0, &*one_line, "`tls.key` has a PEM block without END line (were the line breaks lost?)"),
        (
            &*EC.0,
            garbage_key,
            "`tls.key` is not a private key that can be used (RSA of 2048 to 8192 bits, P-256, P-384, Ed25519)",
        ),
    ] {
        assert_eq!(read(crt, key).err().as_deref(), Some(reason));
    }
    let no_key = parse(&secret_with("a/t", &[("tls.crt", &EC.0)]));
    assert_eq!(no_key.err().as_deref(), Some("it has no `tls.key`"));
}
