//! Command line and environment of the binary.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use outrigger_init::{HEALTHZ_PORT, Volumes};

pub(crate) const HELP: &str = "\
Seeds the shared volumes of an Outrigger pod so that HAProxy can start before the controller.

Usage: outrigger-init [OPTIONS]

A complete configuration is left alone, an update that was cut off is undone, and anything else gives way to a minimal
configuration that opens only the health endpoint (/healthz 200, /readyz 503).

Options:
  --config-dir DIR      Configuration [env: OUTRIGGER_CONFIG_DIR] [default: /etc/haproxy]
  --state-dir DIR       Certificates and lists of them [env: OUTRIGGER_STATE_DIR] [default: /var/lib/haproxy]
  --run-dir DIR         Sockets; may be missing [env: OUTRIGGER_RUN_DIR] [default: /var/run/haproxy]
  --healthz-port PORT   Health endpoint of the seed [env: OUTRIGGER_HEALTHZ_PORT] [default: 1042]
  -h, --help            Print this
  -V, --version         Print the version

Exit codes: 0 done, 1 a volume cannot be used (the message says what to do), 2 wrong option";

/// What the user asks for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Request {
    Prepare(Arguments),
    Help,
    Version,
}

/// Where, and on which port.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Arguments {
    pub(crate) volumes: Volumes,
    pub(crate) healthz_port: u16,
}

/// Flags that take a value, with the variable of the environment that stands in for them.
const FLAGS: [(&str, &str); 4] = [
    ("--config-dir", "OUTRIGGER_CONFIG_DIR"),
    ("--state-dir", "OUTRIGGER_STATE_DIR"),
    ("--run-dir", "OUTRIGGER_RUN_DIR"),
    ("--healthz-port", "OUTRIGGER_HEALTHZ_PORT"),
];

impl Request {
    /// Flags win over the environment, later flags over earlier ones. The error is a message with a hint.
    pub(crate) fn parse(
        arguments: impl Iterator<Item = OsString>,
        environment: impl Fn(&str) -> Option<OsString>,
    ) -> Result<Self, String> {
        let mut parsed = Arguments { volumes: Volumes::default(), healthz_port: HEALTHZ_PORT };
        for (flag, variable) in FLAGS {
            if let Some(value) = environment(variable).filter(|value| !value.is_empty()) {
                parsed.set(flag, value).map_err(|mistake| format!("`{variable}`: {mistake}"))?;
            }
        }
        let mut arguments = arguments;
        while let Some(argument) = arguments.next() {
            let text = argument.to_string_lossy();
            let (name, value) = match text.split_once('=') {
                Some((name, value)) => (name, Some(OsString::from(value))),
                None => (&*text, None),
            };
            match name {
                "-h" | "--help" => return Ok(Self::Help),
                "-V" | "--version" => return Ok(Self::Version),
                _ => {}
            }
            if !FLAGS.iter().any(|(flag, _)| *flag == name) {
                return Err(unknown(name));
            }
            let value = value.or_else(|| arguments.next());
            let value =
                value.filter(|value| !value.is_empty()).ok_or_else(|| format!("`{name}` needs a value"))?;
            parsed.set(name, value).map_err(|mistake| format!("`{name}`: {mistake}"))?;
        }
        Ok(Self::Prepare(parsed))
    }
}

impl Arguments {
    fn set(&mut self, flag: &str, value: OsString) -> Result<(), String> {
        match flag {
            "--config-dir" => self.volumes.config = PathBuf::from(value),
            "--state-dir" => self.volumes.state = PathBuf::from(value),
            "--run-dir" => self.volumes.run = PathBuf::from(value),
            _ => self.healthz_port = port(&value)?,
        }
        Ok(())
    }
}

fn port(value: &OsStr) -> Result<u16, String> {
    let port = value.to_str().and_then(|text| text.parse().ok()).filter(|port| *port > 0);
    port.ok_or_else(|| format!("`{}` is not a port between 1 and 65535", value.to_string_lossy()))
}

fn unknown(name: &str) -> String {
    let shared = |flag: &str| flag.bytes().zip(name.bytes()).take_while(|(a, b)| a == b).count();
    // More than the dashes and a letter in common: probably meant.
    match FLAGS.iter().map(|(flag, _)| *flag).max_by_key(|flag| shared(flag)).filter(|flag| shared(flag) > 3)
    {
        Some(flag) => format!("unknown argument `{name}`; did you mean `{flag}`? See `--help`"),
        None => format!("unknown argument `{name}`; see `--help`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(arguments: &[&str], environment: &[(&str, &str)]) -> Result<Request, String> {
        Request::parse(arguments.iter().map(OsString::from), |name| {
            environment.iter().find(|(key, _)| *key == name).map(|(_, value)| value.into())
        })
    }

    fn prepare(arguments: &[&str], environment: &[(&str, &str)]) -> Arguments {
        match parse(arguments, environment) {
            Ok(Request::Prepare(arguments)) => arguments,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn flags_win_over_the_environment_and_that_over_defaults() {
        let plain = prepare(&[], &[("OUTRIGGER_RUN_DIR", "")]);
        assert_eq!(plain, Arguments { volumes: Volumes::default(), healthz_port: 1042 });
        let environment = [("OUTRIGGER_CONFIG_DIR", "/e"), ("OUTRIGGER_HEALTHZ_PORT", "9")];
        let both = prepare(&["--config-dir", "/a", "--state-dir=/b=c", "--run-dir", "/c"], &environment);
        let volumes = Volumes { config: "/a".into(), state: "/b=c".into(), run: "/c".into() };
        assert_eq!(both, Arguments { volumes, healthz_port: 9 });
    }

    #[test]
    fn mistakes_are_named_with_a_hint() {
        let mistake = |arguments: &[&str]| parse(arguments, &[]).unwrap_err();
        assert_eq!(
            mistake(&["--healthz-bind-port", "1"]),
            "unknown argument `--healthz-bind-port`; did you mean `--healthz-port`? See `--help`"
        );
        assert_eq!(mistake(&["-x"]), "unknown argument `-x`; see `--help`");
        assert_eq!(mistake(&["here"]), "unknown argument `here`; see `--help`");
        assert_eq!(mistake(&["--config-dir"]), "`--config-dir` needs a value");
        assert_eq!(mistake(&["--config-dir="]), "`--config-dir` needs a value");
        assert_eq!(
            mistake(&["--healthz-port", "0"]),
            "`--healthz-port`: `0` is not a port between 1 and 65535"
        );
        assert_eq!(
            parse(&[], &[("OUTRIGGER_HEALTHZ_PORT", "http")]).unwrap_err(),
            "`OUTRIGGER_HEALTHZ_PORT`: `http` is not a port between 1 and 65535"
        );
    }

    #[test]
    fn help_tells_every_flag_and_fits_the_screen() {
        assert_eq!(parse(&["--help"], &[]), Ok(Request::Help));
        assert_eq!(parse(&["--run-dir", "/x", "-V"], &[]), Ok(Request::Version));
        for (flag, variable) in FLAGS {
            assert!(HELP.contains(flag) && HELP.contains(variable), "{flag}");
        }
        assert!(HELP.lines().count() <= 24 && HELP.lines().all(|line| line.len() <= 120));
    }
}
