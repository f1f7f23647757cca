//! Programs that a test runs, with all that they said when they fail.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// The repository.
pub(crate) fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A command that finds the programs of `scripts/parts`, whether the caller has sourced `env.sh` or not.
pub(crate) fn command(program: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", ". scripts/parts/env.sh; exec \"$@\"", "sh", program]).current_dir(repository());
    command
}

/// Runs it to its end with this on its standard input: standard output, or all that it said as the error.
pub(crate) fn output(command: &mut Command, input: &str) -> Result<String, String> {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|e| format!("{command:?}: {e}"))?;
    // A program that ends without reading says by itself why.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let output = child.wait_with_output().map_err(|e| format!("{command:?}: {e}"))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if output.status.success() {
        Ok(text(&output.stdout))
    } else {
        let arguments: Vec<_> = command.get_args().skip(3).map(|a| a.to_string_lossy()).collect();
        let (out, err) = (text(&output.stdout), text(&output.stderr));
        Err(format!("`{}` failed ({})\n{out}{err}", arguments.join(" "), output.status))
    }
}
