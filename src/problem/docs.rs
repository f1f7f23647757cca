//! What the reference page says about each [`Code`].

use super::Code;

/// What a code means, and what to do about it.
#[derive(Debug, Clone, Copy)]
pub struct CodeDocs {
    /// What is wrong, and what works all the same.
    pub meaning: &'static str,
    /// What mends it.
    pub remedy: &'static str,
}

/// Every code once, in the order of the enum.
static DOCS: &[(Code, CodeDocs)] = &[
    (
        Code::ServiceNotFound,
        CodeDocs {
            meaning: "An Ingress names a Service that does not exist. The path answers 503 until it does.",
            remedy: "Create the Service in the namespace of the Ingress, or correct its name.",
        },
    ),
    (
        Code::ServicePortNotFound,
        CodeDocs {
            meaning: "An Ingress names a port that the Service does not have. The path answers 503.",
            remedy: "Use the number or the name of a port in `spec.ports` of the Service.",
        },
    ),
    (
        Code::BackendNotSupported,
        CodeDocs {
            meaning: "A path leads to a resource, or to nothing. The path answers 503.",
            remedy: "Name a Service and a port in `backend.service`.",
        },
    ),
    (
        Code::RouteConflict,
        CodeDocs {
            meaning: "An older Ingress claims the same host and path already, so this one has no effect there. Of two that are as old the first by namespace and name counts.",
            remedy: "Remove the path from one of the two.",
        },
    ),
    (
        Code::CanaryWithoutMain,
        CodeDocs {
            meaning: "A canary of a host and path that no other Ingress of its namespace has, or of a `defaultBackend`. The canary gets no requests.",
            remedy: "Write the host, the path and the path type of the main Ingress, and keep both in one namespace.",
        },
    ),
    (
        Code::RouteConditionalOnly,
        CodeDocs {
            meaning: "All Services of a path have `route-acl`. Requests that pass none of the tests get the default backend.",
            remedy: "Add a path with the same host and path for a Service without `route-acl`, unless that is what you want.",
        },
    ),
    (
        Code::DefaultBackendConflict,
        CodeDocs {
            meaning: "An older Ingress has a `defaultBackend` already, so this one has no effect.",
            remedy: "Remove `spec.defaultBackend` from one of the two.",
        },
    ),
    (
        Code::HostInvalid,
        CodeDocs {
            meaning: "A host that no request can carry. Its paths have no effect; the other hosts of the Ingress work.",
            remedy: "Write a host name in lower case, or `*.` before one.",
        },
    ),
    (
        Code::PathInvalid,
        CodeDocs {
            meaning: "A path that does not start with `/`, or that cannot be looked up. It has no effect; the other paths work.",
            remedy: "Start the path with `/`, and percent-encode what is not allowed in a URL.",
        },
    ),
    (
        Code::SecretNotFound,
        CodeDocs {
            meaning: "A Secret that does not exist. Hosts of a missing TLS Secret get the default certificate.",
            remedy: "Create the Secret in the namespace of the object that names it, or correct its name.",
        },
    ),
    (
        Code::CertificateInvalid,
        CodeDocs {
            meaning: "A Secret without usable certificate and key, or one that HAProxy refuses. Its hosts get what they got before, or the default certificate.",
            remedy: "Replace `tls.crt` and `tls.key`; the key must belong to the first certificate.",
        },
    ),
    (
        Code::CertificateConflict,
        CodeDocs {
            meaning: "An older Ingress brings a certificate for the same host already, so this one is not used for it.",
            remedy: "Use the same Secret in both, or remove the host from one `spec.tls`.",
        },
    ),
    (
        Code::EndpointRefused,
        CodeDocs {
            meaning: "An endpoint has an address that no pod can have (loopback, link-local, multicast). It gets no traffic.",
            remedy: "Correct the EndpointSlice, or whatever writes it.",
        },
    ),
    (
        Code::ValueInvalid,
        CodeDocs {
            meaning: "A value that its key does not allow. The key counts as if it were not written.",
            remedy: "Write a value of the kind that the message names; `outrigger options show KEY` has an example.",
        },
    ),
    (
        Code::KeyUnknown,
        CodeDocs {
            meaning: "An annotation with a prefix of this controller, or an entry of its ConfigMap, that is no key. It has no effect.",
            remedy: "Correct the name; `outrigger options list` shows all keys.",
        },
    ),
    (
        Code::KeyMisplaced,
        CodeDocs {
            meaning: "A key on an object where it has no effect.",
            remedy: "Move it to one of the objects that the message names.",
        },
    ),
    (
        Code::ManifestConflict,
        CodeDocs {
            meaning: "Two manifests have the same object. The last one by file name and place counts.",
            remedy: "Remove one of the two.",
        },
    ),
    (
        Code::ManifestInvalid,
        CodeDocs {
            meaning: "A manifest that cannot be read. What it held before stays.",
            remedy: "Correct the file at the place that the message names.",
        },
    ),
    (
        Code::ApiVersionRemoved,
        CodeDocs {
            meaning: "An API version that Kubernetes has removed. The object has no effect.",
            remedy: "Use the version that the message names.",
        },
    ),
    (
        Code::CustomResourceIgnored,
        CodeDocs {
            meaning: "A manifest holds a custom resource of haproxytech's controller. It has no effect: custom resources are not read.",
            remedy: "Say the same with the keys that the message names.",
        },
    ),
    (
        Code::PortUnavailable,
        CodeDocs {
            meaning: "Another process holds a port that HAProxy shall listen on. What runs goes on, and reloads wait.",
            remedy: "Stop that process, or choose another port.",
        },
    ),
    (
        Code::ConfigurationRefused,
        CodeDocs {
            meaning: "HAProxy refuses the configuration, and leaving parts out did not help. The last good one runs, live changes go on.",
            remedy: "Look at HAProxy's words in the message. It is tried again after a change, and from time to time.",
        },
    ),
    (
        Code::WatchRefused,
        CodeDocs {
            meaning: "The API server does not let the controller read a kind of object. What was known of it stays.",
            remedy: "Grant what the message names (the chart does).",
        },
    ),
    (
        Code::AuthUnusable,
        CodeDocs {
            meaning: "`auth-url` or a key that belongs to it cannot be used: a value that is not allowed, an address that is refused, or `https` to a Service. Its paths answer 503, since nobody would be asked.",
            remedy: "Correct the value that the message names, or remove `auth-url`.",
        },
    ),
    (
        Code::AccessClosed,
        CodeDocs {
            meaning: "A key that guards a path (`allow-list`, `deny-list`, `auth-type`, `auth-secret`) has a value that is not allowed, or lacks what it needs. The path answers 503, since open would be worse than closed.",
            remedy: "Correct the key that the message names, or remove it.",
        },
    ),
    (
        Code::KeyIneffective,
        CodeDocs {
            meaning: "A key that changes nothing where it is written, because of other keys or of the rule: for example a rate limit where TLS is passed through, `auth-secret` without `auth-type`, or `client-crl` without `client-ca`. The message says which; requests that such a key should guard are refused where it says so.",
            remedy: "Remove the key, or write what it needs, as the hint says.",
        },
    ),
    (
        Code::SecretForbidden,
        CodeDocs {
            meaning: "A Service or an Ingress names a Secret of another namespace. The Secret is not used: the requests that it should check are refused, and a certificate for pods is not shown to them.",
            remedy: "Put the Secret into the namespace of the object that names it. Only the ConfigMap may name Secrets of any namespace.",
        },
    ),
    (
        Code::CredentialsInvalid,
        CodeDocs {
            meaning: "A Secret of `auth-secret` has a user or a password hash that HAProxy cannot check. That user cannot log in; when there is no other one, the path answers 503.",
            remedy: "Make hashes with `openssl passwd -6`, or lines of `user:hash` with `htpasswd -B`. Plain passwords are not taken.",
        },
    ),
    (
        Code::PatternFileNotFound,
        CodeDocs {
            meaning: "A list names a pattern file that does not exist or holds no address. An allow list serves nobody then, and a path with such a deny list answers 503; exceptions from a rate limit are none.",
            remedy: "Create the entry in the ConfigMap that `--configmap-patternfiles` names, or write the addresses out.",
        },
    ),
    (
        Code::PatternFileInvalid,
        CodeDocs {
            meaning: "An entry of the ConfigMap of pattern files has a name or a line that cannot be used. The rest of it works.",
            remedy: "Use letters, digits and `-_.` in names. Write one pattern a line; where addresses are wanted, one address or network.",
        },
    ),
    (
        Code::AuthorityInvalid,
        CodeDocs {
            meaning: "A Secret without usable certificate authority, revocation list or signing certificate. Requests that it should check are refused; without a signing certificate clients get the default certificate.",
            remedy: "Put authorities into `ca.crt` and revocation lists into `ca.crl`; to sign certificates, a certificate into `tls.crt` and its key into `tls.key`. All are PEM.",
        },
    ),
    (
        Code::ClientCheckConflict,
        CodeDocs {
            meaning: "An older Ingress says otherwise what clients of this host must show, so this one has no effect for the host.",
            remedy: "Write the same `client-ca`, `client-crl` and `client-crt-optional` on both Ingresses, or on one only.",
        },
    ),
    (
        Code::PassthroughConflict,
        CodeDocs {
            meaning: "One Ingress passes TLS of a host through and another one terminates it. The older one counts: either nothing is passed through, or the other paths of the host cannot be reached over TLS.",
            remedy: "Let one Ingress have all paths of the host, or remove `ssl-passthrough`.",
        },
    ),
    (
        Code::PortConflict,
        CodeDocs {
            meaning: "The ConfigMap asks for a port that another listener of HAProxy has. A listener keeps the port that it had; a TCP service is not served.",
            remedy: "Choose a port that no other listener has.",
        },
    ),
    (
        Code::PortPrivileged,
        CodeDocs {
            meaning: "A port below 1024, which a process that is not root may be refused. It is tried all the same.",
            remedy: "Set the sysctl `net.ipv4.ip_unprivileged_port_start` of the pod to `0`, or let the Service map the port.",
        },
    ),
    (
        Code::ErrorPageInvalid,
        CodeDocs {
            meaning: "An entry of the ConfigMap of error pages that cannot be used: not a status that HAProxy has pages for, a response that is broken, empty or too large. HAProxy's own page stays.",
            remedy: "Name the entry by its status, such as `503`, and give it an HTML body, or a response that begins with `HTTP/1.1 503`.",
        },
    ),
    (
        Code::TcpServiceInvalid,
        CodeDocs {
            meaning: "An entry of the ConfigMap of TCP services that cannot be used. Its port is closed.",
            remedy: "Name the entry by its port, and write `namespace/service:port`, with `:ssl` behind it for TLS.",
        },
    ),
    (
        Code::UserInvalid,
        CodeDocs {
            meaning: "A user of `stats-auth` or `prometheus-endpoint-auth-secret` whose name or password cannot be used, or a Secret without any user. That user is not let in; without any, nobody is.",
            remedy: "Name entries of the Secret by the user, with the password, or a hash of it (`openssl passwd -6`), as the value.",
        },
    ),
    (
        Code::SnippetDisabled,
        CodeDocs {
            meaning: "A snippet that flags switch off. It has no effect.",
            remedy: "Change `--enable-config-snippets` or `--disable-config-snippets` in the chart value `controller.extraArgs`, or remove the snippet.",
        },
    ),
    (
        Code::SnippetRefused,
        CodeDocs {
            meaning: "A snippet of a Service or an Ingress has a line that reaches beyond its backend. The whole snippet has no effect.",
            remedy: "Remove the line that the message names, or let the ConfigMap of the controller say it.",
        },
    ),
    (
        Code::Quarantined,
        CodeDocs {
            meaning: "HAProxy refuses this part of the configuration, so it is left out alone and everything else is applied. Requests are served without a snippet that is left out. A backend goes on as it was before, or answers 503 when it is new.",
            remedy: "Correct what HAProxy's words in the message are about. It is tried again when it changes, and after an upgrade of HAProxy.",
        },
    ),
];

impl Code {
    /// Every code, in the order of the reference page.
    pub fn all() -> impl Iterator<Item = Self> {
        DOCS.iter().map(|(code, _)| *code)
    }

    /// What it means.
    pub fn docs(self) -> Option<CodeDocs> {
        DOCS.iter().find(|(code, _)| *code == self).map(|(_, docs)| *docs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The enum is read from its source: a new code that nobody explains is found.
    #[test]
    fn every_code_is_explained() {
        let source = include_str!("../problem.rs");
        let (_, body) = source.split_once("pub enum Code {").expect("the enum");
        let (body, _) = body.split_once("\n}").expect("its end");
        let names: Vec<&str> = body
            .lines()
            .filter_map(|line| line.trim().strip_suffix(','))
            .filter(|l| !l.contains("//"))
            .collect();
        let known: Vec<String> = Code::all().map(|code| format!("{code:?}")).collect();
        let missing: Vec<&str> =
            names.into_iter().filter(|name| !known.contains(&(*name).to_owned())).collect();
        assert!(missing.is_empty(), "add to src/problem/docs.rs: {missing:?}");
    }

    #[test]
    fn explanations_are_sentences() {
        for code in Code::all() {
            let docs = code.docs().expect("docs");
            assert!(docs.meaning.ends_with('.') && docs.remedy.ends_with('.'), "{code}");
        }
    }
}
