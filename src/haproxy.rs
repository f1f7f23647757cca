//! HAProxy seen from here: the master CLI client, typed commands, reply parsers, the process in external mode.
//!
//! ```text
//! Request ─▶ Master (one kept connection, one command at a time) ─▶ Answer
//!    ▲                                                                │
//!    └─ Worker: spells `plan::Command`, checks every answer ◀─────────┤
//!       reload(), Master::wait_until_ready(), Watchdog: read `Processes` ◀┘
//! ```
//!
//! Rules of the socket that the code below relies on, tried on 2.2, 2.6, 3.0, 3.2 and 3.4: a connection that is dropped while
//! an answer streams costs one of ten slots for ever, so answers are always read to their end; a message above 16 kB kills the
//! master of 2.2, so larger ones are refused here; a reload closes every connection.

mod answers;
mod error;
mod master;
mod reload;
mod reply;
mod request;
mod show_proc;
mod state;
mod supervisor;
mod watchdog;
mod worker;

#[cfg(test)]
pub(crate) mod testing;

pub use error::{CommandError, Error};
pub use master::{Master, Ready};
pub use reload::{Place, Refusal, Reload, reload};
pub use reply::{Answer, ReplyDecoder};
pub use request::{MAX_MESSAGE, Request, escape_word};
pub use show_proc::{MasterProcess, Processes, WorkerProcess, parse_show_proc};
pub use state::{
    Info, Running, ServerRunning, parse_certificates, parse_crt_list, parse_info, parse_list, parse_lists,
    parse_map, parse_servers_state,
};
pub use supervisor::{Program, Supervisor};
pub use watchdog::{Identity, Watchdog};
pub use worker::{Dying, Worker};
