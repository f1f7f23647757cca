//! The good answers of every runtime command, as 2.2, 2.6, 3.0, 3.2 and 3.4 give them. Anything else is a failure.

/// What an answer must be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Good {
    /// Nothing at all.
    Empty,
    /// The last line is this. Warnings of earlier commands can stand before it (3.4).
    Last(String),
    /// The address is the wanted one now: changed, or it was before.
    Address,
}

impl Good {
    pub(super) fn accepts(&self, answer: &str) -> bool {
        let last = last_line(answer);
        match self {
            Self::Empty => answer.is_empty(),
            Self::Last(line) => last == line,
            // `IP changed from '…' to '…', port changed from …, no need to change the port by 'stats socket command'`;
            // `nothing changed` from 3.0 on. Refusals (`Invalid addr …`) have neither.
            Self::Address => {
                last == "nothing changed"
                    || (last.ends_with(" by 'stats socket command'")
                        && ["IP changed from ", "port changed from ", "no need to change the "]
                            .iter()
                            .any(|start| last.starts_with(start)))
            }
        }
    }
}

/// The last line that has text.
pub(super) fn last_line(answer: &str) -> &str {
    answer.lines().rev().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default()
}

/// Answers of `del server`.
pub(super) enum Deletion {
    Done,
    /// Requests are still running.
    Busy,
    Refused,
}

pub(super) fn deletion(answer: &str) -> Deletion {
    match last_line(answer) {
        "Server deleted." | "No such server." => Deletion::Done,
        "Server still has connections attached to it, cannot remove it." => Deletion::Busy,
        _ => Deletion::Refused,
    }
}

/// The file of the open certificate transaction when `abort ssl cert` was refused for that reason.
pub(super) fn other_transaction(answer: &str) -> Option<&str> {
    last_line(answer)
        .strip_prefix("The ongoing transaction is about '")?
        .split_once('\'')
        .map(|(file, _)| file)
}

/// The lines on which a certificate stands in a list, when `del ssl crt-list` asks for one: `… (2, 3)!`.
pub(super) fn list_lines(answer: &str) -> Option<Vec<u32>> {
    let last = last_line(answer);
    let lines = last.contains("in several entries").then(|| last.rsplit_once('('))??.1;
    lines.strip_suffix(")!")?.split(", ").map(|line| line.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_known_answers_are_good() {
        for good in [
            "IP changed from '127.0.0.1' to '127.0.0.2', port changed from '1' to '81' by 'stats socket command'",
            "no need to change the addr, no need to change the port by 'stats socket command'",
            "IP changed from '::1' to '127.0.0.2', no need to change the port by 'stats socket command'",
            "nothing changed",
        ] {
            assert!(Good::Address.accepts(good), "{good}");
        }
        for bad in ["", "No such server.", "Invalid addr 'x'", "Unknown command by 'stats socket command'"] {
            assert!(!Good::Address.accepts(bad), "{bad}");
        }
        assert!(Good::Last("Success!".into()).accepts("Committing /a\nSuccess!"));
        assert!(!Good::Last("Success!".into()).accepts("Success!\nCan't commit /a!"));
        assert!(!Good::Empty.accepts("entry not found."));
    }

    #[test]
    fn details_are_read_from_refusals() {
        assert_eq!(
            other_transaction(
                "The ongoing transaction is about '/a/b.pem' but you are trying to abort a transaction for '/a/c.pem'"
            ),
            Some("/a/b.pem")
        );
        assert_eq!(other_transaction("No ongoing transaction!"), None);
        assert_eq!(
            list_lines(
                "Can't delete the entry: found the certificate '/a/b.pem' in several entries, please specify a line \
                 number preceded by colons (2, 3)!"
            ),
            Some(vec![2, 3])
        );
        assert_eq!(
            list_lines("Can't delete the entry: certificate '/b' can't be found in crt-list '/l'!"),
            None
        );
    }
}
