//! Certificate authorities made for a test: they sign clients, and revoke them.

use rcgen::{
    BasicConstraints, CertificateParams, CertificateRevocationListParams, CertifiedIssuer, DnType, IsCa,
    KeyIdMethod, KeyPair, KeyUsagePurpose, RevokedCertParams, SerialNumber, date_time_ymd,
};

use super::certificates::Pair;

/// An authority.
pub(crate) struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
}

impl Authority {
    /// With this common name.
    pub(crate) fn new(common_name: &str) -> Self {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, common_name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        Self { issuer: CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap() }
    }

    /// Its certificate and key.
    pub(crate) fn pair(&self) -> Pair {
        Pair { certificate: self.issuer.pem(), key: self.issuer.key().serialize_pem() }
    }

    /// A certificate for a client of this name.
    pub(crate) fn client(&self, common_name: &str, serial: u64) -> Pair {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, common_name);
        params.serial_number = Some(SerialNumber::from(serial));
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        Pair { certificate: certificate.pem(), key: key.serialize_pem() }
    }

    /// The list of those that do not count any more.
    pub(crate) fn revoke(&self, serials: &[u64]) -> String {
        let revoked = serials.iter().map(|serial| RevokedCertParams {
            serial_number: SerialNumber::from(*serial),
            revocation_time: date_time_ymd(2024, 1, 1),
            reason_code: None,
            invalidity_date: None,
        });
        let params = CertificateRevocationListParams {
            this_update: date_time_ymd(2024, 1, 1),
            next_update: date_time_ymd(2099, 1, 1),
            crl_number: SerialNumber::from(1),
            issuing_distribution_point: None,
            revoked_certs: revoked.collect(),
            key_identifier_method: KeyIdMethod::Sha256,
        };
        params.signed_by(&self.issuer).unwrap().pem().unwrap()
    }
}

/// A Secret `default/NAME` with these texts.
pub(crate) fn secret(name: &str, data: &[(&str, &str)]) -> String {
    let mut text = format!(
        "apiVersion: v1\nkind: Secret\nmetadata:\n  name: {name}\n  namespace: default\nstringData:\n"
    );
    for (key, value) in data {
        text.push_str(&format!("  {key}: |\n"));
        for line in value.lines() {
            text.push_str(&format!("    {}\n", line.trim_end()));
        }
    }
    text + "---\n"
}

/// The ConfigMap that `--configmap=default/settings` names.
pub(crate) fn settings(pairs: &[(&str, &str)]) -> String {
    let data: String = pairs.iter().map(|(key, value)| format!("  {key}: \"{value}\"\n")).collect();
    let data = if data.is_empty() { " {}\n".to_owned() } else { format!("\n{data}") };
    format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings\n  namespace: default\ndata:{data}---\n"
    )
}
