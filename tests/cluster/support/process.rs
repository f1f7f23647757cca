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

/// Kills the first process of the container of this pod that runs this program, as a crash would end it.
pub(crate) fn kill_in_pod(program: &str, pod: &str) {
    let pid = first_process(program, pod).unwrap_or_else(|| panic!("no {program} runs in {pod}"));
    output(Command::new("kill").args(["-KILL", &pid.to_string()]), "").unwrap();
    super::until("the process to end", super::DEADLINE, || match first_process(program, pod) {
        Some(alive) if alive == pid => Err(format!("{pid} is still there")),
        _ => Ok(()),
    });
}

/// The kubelet names the pod in `HOSTNAME`, and the first process of a container has the number 1 inside.
fn first_process(program: &str, pod: &str) -> Option<u32> {
    let hostname = format!("HOSTNAME={pod}");
    let is_it = |folder: &Path| {
        let read = |file: &str| std::fs::read(folder.join(file)).unwrap_or_default();
        let status = String::from_utf8_lossy(&read("status")).into_owned();
        let inside = status.lines().find_map(|line| line.strip_prefix("NSpid:")).unwrap_or("");
        read("comm").trim_ascii_end() == program.as_bytes()
            && inside.split_whitespace().next_back() == Some("1")
            && read("environ").split(|byte| *byte == 0).any(|variable| variable == hostname.as_bytes())
    };
    let processes = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok).map(|entry| entry.path());
    processes.filter(|path| is_it(path)).find_map(|path| path.file_name()?.to_str()?.parse().ok())
}
