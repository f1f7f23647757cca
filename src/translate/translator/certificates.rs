//! Certificates of the model: which Secrets they come from, and what hosts ask of clients.

use std::collections::BTreeSet;

use super::{Translator, Update, put};
use crate::cluster::{ObjectName, Snapshot};
use crate::model::{Certificate, CertificateKey, Touched};
use crate::translate::index::Dirty;
use crate::translate::notes::Notes;
use crate::translate::problem_book::Unit;
use crate::translate::{certificates, clients};

impl Translator {
    /// The Secret that the flag or the ConfigMap names as the default certificate.
    pub(super) fn choose_default_certificate(&mut self, dirty: &mut Dirty) {
        let chosen = certificates::default_secret(&self.settings, &self.config);
        let wanted = chosen.as_ref().map(|(secret, _)| secret.clone());
        if let Some(old) = std::mem::replace(&mut self.default_certificate, wanted) {
            self.index.secret_use(&old).is_default = None;
            dirty.secrets.insert(old);
        }
        if let Some((secret, origin)) = chosen {
            self.index.secret_use(&secret).is_default = Some(origin);
            dirty.secrets.insert(secret);
        }
    }

    pub(super) fn compute_certificates(
        &mut self,
        snapshot: &Snapshot,
        dirty: &mut Dirty,
        update: &mut Update,
    ) {
        for secret in std::mem::take(&mut dirty.secrets) {
            let problems = certificates::refresh_secret(&secret, &mut self.index, snapshot, dirty);
            self.book.set(Unit::Secret(secret), problems);
        }
        for host in std::mem::take(&mut dirty.tls_hosts) {
            let problems = certificates::elect(&host, &mut self.index, dirty);
            let mut notes = Notes { problems, ..Notes::default() };
            clients::elect(&host, &mut self.index, (snapshot, &self.config), &mut notes, dirty);
            let (unit, problems) = (Unit::TlsHost(host), std::mem::take(&mut notes.problems));
            self.ledger.set(&unit, notes);
            self.book.set(unit, problems);
        }
        let touched = &mut update.touched;
        for secret in std::mem::take(&mut dirty.certificates) {
            let wanted = certificates::compute(&secret, &self.index);
            self.put_certificates(Some(&secret), wanted, touched);
        }
        let used = self.default_certificate.as_ref().and_then(|name| self.index.secrets.get(name));
        let wanted = used.and_then(|used| used.parsed.key_pair()).map(|pair| &pair.pem);
        let wanted = wanted.unwrap_or(&self.settings.fallback_certificate).clone();
        let units = certificates::compute_default(&wanted, &self.index);
        self.put_certificates(None, units, touched);
        if wanted != self.model.default_certificate {
            self.model.default_certificate = wanted;
            touched.global = true;
        }
    }

    /// Brings the units of one certificate to the wanted ones.
    fn put_certificates(
        &mut self,
        secret: Option<&ObjectName>,
        wanted: Vec<Certificate>,
        touched: &mut Touched,
    ) {
        let first = CertificateKey { secret: secret.cloned(), check: None };
        let units = self.model.certificates.range(first..).map(|(key, _)| key);
        let mut keys: BTreeSet<CertificateKey> =
            units.take_while(|key| key.secret.as_ref() == secret).cloned().collect();
        for certificate in wanted {
            keys.remove(&certificate.key);
            let key = certificate.key.clone();
            if put(&mut self.model.certificates, &key, Some(certificate)) {
                touched.certificates.insert(key);
            }
        }
        for key in keys {
            self.model.certificates.remove_mut(&key);
            touched.certificates.insert(key);
        }
    }
}
