//! HAProxy as a process: connections, threads, how long an old worker lives.

use super::entry;
use crate::options::Key;
use crate::options::value::{duration, number};

/// More needs more file descriptors (two for each connection) than the 1,048,576 that HAProxy takes at most.
const MOST: u32 = 500_000;

/// Connections of the process.
pub static MAXCONN: Key<u32> = Key {
    entry: entry(
        "maxconn",
        "a number from 1 to 500000",
        "as many as the limit of file descriptors allows",
        "How many connections HAProxy accepts at a time, all listeners together; more wait in the kernel. Each takes two file \
         descriptors: when the limit of the container is lower than that, HAProxy refuses the configuration, the last good one \
         stays, and a Problem says so.",
        "20000",
    ),
    parse: |text| number(text, 1..=MOST),
};

/// Threads.
pub static NBTHREAD: Key<u16> = Key {
    entry: entry(
        "nbthread",
        "a number from 1 to 64",
        "one for each processor that HAProxy may use",
        "How many threads HAProxy runs. A CPU limit of the container is not seen by HAProxy: set this to about the limit, or \
         HAProxy starts a thread for each processor of the node.",
        "4",
    ),
    parse: |text| number(text, 1..=64),
};

/// How long an old worker may live.
pub static HARD_STOP_AFTER: Key<u32> = Key {
    entry: entry(
        "hard-stop-after",
        "a duration such as `90s`, `30m` or `1h30m`",
        "`30m`",
        "How long a worker that a reload has replaced may go on with the connections that it has (WebSockets, downloads); then \
         they are cut. Each such worker takes memory.",
        "10m",
    ),
    parse: duration,
};

#[cfg(test)]
mod tests {
    use super::super::HOSTILE;
    use super::*;

    #[test]
    fn values() {
        assert_eq!((MAXCONN.parse)("20000"), Ok(20_000));
        assert_eq!((NBTHREAD.parse)("64"), Ok(64));
        assert_eq!((HARD_STOP_AFTER.parse)("1h30m"), Ok(5_400_000));
        for bad in ["0", "500001", "-1", "1k", "99999999999999999999"].iter().chain(&HOSTILE) {
            assert!((MAXCONN.parse)(bad).is_err(), "{bad}");
        }
        for bad in ["0", "65", "all"].iter().chain(&HOSTILE) {
            assert!((NBTHREAD.parse)(bad).is_err(), "{bad}");
        }
        for bad in ["30", "0s", "30m5", "1y"].iter().chain(&HOSTILE) {
            assert!((HARD_STOP_AFTER.parse)(bad).is_err(), "{bad}");
        }
    }
}
