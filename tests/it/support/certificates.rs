//! Certificates made for a test; no key lies in the repository.

use rcgen::{CertificateParams, DnType, KeyPair, PKCS_ECDSA_P256_SHA256, PKCS_RSA_SHA256};

/// A certificate and its key as PEM.
pub(crate) struct Pair {
    pub(crate) certificate: String,
    pub(crate) key: String,
}

/// An ECDSA certificate with this common name for these hosts.
pub(crate) fn ecdsa(common_name: &str, hosts: &[&str]) -> Pair {
    make(common_name, hosts, &KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).unwrap())
}

/// An RSA certificate with this common name for these hosts. The key comes from the openssl program: ring cannot make any.
pub(crate) fn rsa(common_name: &str, hosts: &[&str]) -> Pair {
    let output = std::process::Command::new("openssl")
        .args(["genpkey", "-quiet", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"])
        .output()
        .expect("the openssl program makes RSA keys for tests");
    let pem = String::from_utf8(output.stdout).unwrap();
    make(common_name, hosts, &KeyPair::from_pkcs8_pem_and_sign_algo(&pem, &PKCS_RSA_SHA256).unwrap())
}

fn make(common_name: &str, hosts: &[&str], key: &KeyPair) -> Pair {
    let mut params =
        CertificateParams::new(hosts.iter().map(|h| (*h).to_owned()).collect::<Vec<_>>()).unwrap();
    params.distinguished_name.push(DnType::CommonName, common_name);
    let certificate = params.self_signed(key).unwrap();
    Pair { certificate: certificate.pem().replace('\r', ""), key: key.serialize_pem().replace('\r', "") }
}
