//! Environment and command line; the latter as the public image `hashicorp/http-echo` has it, for which it stands in.

use std::time::Duration;

/// What to answer, and where.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Settings {
    /// First line of an answer: the pod.
    pub(crate) name: String,
    /// The whole answer, when given (`-text=`).
    pub(crate) text: Option<String>,
    /// Where to listen (`-listen=:PORT`).
    pub(crate) port: u16,
    /// How long new connections are still taken after SIGTERM.
    pub(crate) linger: Duration,
    /// Be a sandbox, not an application.
    pub(crate) pause: bool,
}

impl Settings {
    pub(crate) fn of_process() -> Self {
        Self::parse(std::env::args().skip(1), |name| std::env::var(name).ok())
    }

    fn parse(arguments: impl Iterator<Item = String>, environment: impl Fn(&str) -> Option<String>) -> Self {
        let linger = environment("ECHO_LINGER_MS").and_then(|ms| ms.parse().ok()).unwrap_or(3000);
        let mut settings = Self {
            name: environment("POD_NAME").or_else(|| environment("HOSTNAME")).unwrap_or_default(),
            text: None,
            port: 8080,
            linger: Duration::from_millis(linger),
            pause: false,
        };
        for argument in arguments {
            match argument.split_once('=') {
                Some(("-text", text)) => settings.text = Some(text.to_owned()),
                Some(("-listen", address)) => {
                    let port = address.rsplit(':').next().and_then(|port| port.parse().ok());
                    settings.port = port.unwrap_or(settings.port);
                }
                _ => settings.pause |= argument == "pause",
            }
        }
        settings
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stands_in_for_the_public_image() {
        let arguments = ["-listen=:5678", "-text=a=b"].map(str::to_owned);
        let settings = Settings::parse(arguments.into_iter(), |_| None);
        assert_eq!((settings.port, settings.text.as_deref()), (5678, Some("a=b")));
    }

    #[test]
    fn the_pod_is_known_by_its_name() {
        let settings =
            Settings::parse(std::iter::empty(), |name| (name == "HOSTNAME").then(|| "web-0".to_owned()));
        assert_eq!((settings.name.as_str(), settings.port), ("web-0", 8080));
    }
}
