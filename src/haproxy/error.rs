//! What can go wrong between here and HAProxy.

use std::path::PathBuf;

use crate::model::BackendName;

/// A request that did not bring a usable answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The request was never sent, so nothing happened. Trying again later is safe.
    #[error("HAProxy cannot be reached at `{}`: {reason}", path.display())]
    NotSent {
        /// The master CLI socket.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// The request was sent, but its answer did not come in time or was cut off. It may have taken effect: read back.
    #[error("the outcome of `{command}` is unknown")]
    Unknown {
        /// The command, without payload.
        command: String,
    },
    /// The message is too large to be safe for the master CLI; nothing was sent.
    #[error("`{command}` needs {bytes} bytes, more than the master CLI takes safely")]
    TooLarge {
        /// The command, without payload.
        command: String,
        /// Size of the whole message.
        bytes: usize,
    },
    /// A word or payload that the CLI has no spelling for (control characters, nothing at all); nothing was sent.
    #[error("`{0}` cannot be said on the master CLI")]
    Unspeakable(String),
    /// The answer is not what this command answers on any known version.
    #[error("unexpected answer to `{command}`: {answer}")]
    Unreadable {
        /// The command.
        command: String,
        /// The beginning of the answer.
        answer: String,
    },
}

/// A runtime command that did not succeed. Except for `NotSent`, the way out is a reload.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CommandError {
    /// Nothing happened: HAProxy cannot be reached. The whole batch can be tried again.
    #[error("{0}")]
    NotSent(Error),
    /// The command may or may not have taken effect.
    #[error("the outcome of `{command}` is unknown")]
    Unknown {
        /// The command, without payload.
        command: String,
    },
    /// HAProxy said something that is not on the list of this command's good answers.
    #[error("HAProxy answered `{command}` with: {answer}")]
    Unexpected {
        /// The command, without payload (so never with a key).
        command: String,
        /// The answer.
        answer: String,
    },
    /// Too large for the master CLI, or not sayable on it: the files and a reload can do it.
    #[error("{0}")]
    TooLarge(Error),
    /// A server of this name with other settings still finishes its last requests.
    #[error("server `{backend}/{server}` still finishes requests under its old settings")]
    Busy {
        /// Backend.
        backend: BackendName,
        /// Server.
        server: String,
    },
    /// This release of HAProxy crashes when servers are deleted, so they are kept; a reload lets go of them.
    #[error("{count} servers wait for a reload: this release of HAProxy cannot delete them safely")]
    TooManyKept {
        /// Servers in maintenance.
        count: usize,
    },
}

impl From<Error> for CommandError {
    fn from(error: Error) -> Self {
        match error {
            Error::NotSent { .. } => Self::NotSent(error),
            Error::Unknown { command } => Self::Unknown { command },
            Error::TooLarge { .. } | Error::Unspeakable(_) => Self::TooLarge(error),
            Error::Unreadable { command, answer } => Self::Unexpected { command, answer },
        }
    }
}
