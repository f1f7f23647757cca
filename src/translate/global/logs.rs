//! Where logs go, and their format.

use super::Context;
use crate::model::Global;
use crate::model::global::logs::{Line, Target};
use crate::options::global::{
    LOG_FORMAT, LOG_FORMAT_TCP, LogLine, LogTarget, SYSLOG_ENDPOINT, SYSLOG_FORMAT, SYSLOG_LENGTH,
    SYSLOG_SERVER, SYSLOG_TAG,
};
use crate::translate::notes::Notes;

/// Reads the keys of this family.
pub(super) fn read(context: &Context<'_>, global: &mut Global, _notes: &mut Notes) {
    let logs = &mut global.logs;
    logs.http = context.get(&LOG_FORMAT).map(line);
    logs.tcp = context.get(&LOG_FORMAT_TCP).map(line);
    logs.tag = context.get(&SYSLOG_TAG);
    if let Some(targets) = context.get(&SYSLOG_SERVER) {
        logs.targets = targets.into_iter().map(target).collect();
    } else if let Some(target) = endpoint(context) {
        logs.targets = vec![target];
    }
}

/// What a parsed format is in the model.
pub(super) fn line(line: LogLine) -> Line {
    match line {
        LogLine::Json => Line::Json,
        LogLine::Format(format) => Line::Format(format.around_path_only),
    }
}

fn target(target: LogTarget) -> Target {
    let LogTarget { address, length, format, facility, level, minlevel } = target;
    let format = format.or_else(|| is_stream(&address).then_some("raw"));
    Target { address, length, format, facility, level, minlevel }
}

/// The target of `syslog-endpoint`, when one of its keys is written.
fn endpoint(context: &Context<'_>) -> Option<Target> {
    let address = context.get(&SYSLOG_ENDPOINT);
    let (format, length) = (context.get(&SYSLOG_FORMAT), context.get(&SYSLOG_LENGTH));
    if address.is_none() && format.is_none() && length.is_none() {
        return None;
    }
    let address = address.unwrap_or_else(|| "stdout".to_owned());
    let format = format.unwrap_or_else(|| if is_stream(&address) { "raw" } else { "rfc5424" });
    Some(Target { address, length, format: Some(format), facility: "local0", level: None, minlevel: None })
}

fn is_stream(address: &str) -> bool {
    matches!(address, "stdout" | "stderr")
}
