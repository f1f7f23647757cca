//! What external authentication costs, on HAProxy 3.2: requests/s and latency without it, with the Lua script, and with an SPOE
//! agent, which would be the other way.
//!
//! `cargo bench --bench external_auth [-- SECONDS]`, or without cargo: `rustc -O --edition 2024 benches/external_auth.rs`. It
//! uses the standard library only. HAProxy runs with the lines that the controller renders and its real script; the pod, the
//! service and the agent are threads of this program. The variants take turns, the table shows the median of all rounds. See
//! `docs/external-auth.md`.
#![allow(clippy::unwrap_used, clippy::unwrap_in_result, reason = "a benchmark that cannot go on ends")]
#![allow(clippy::print_stdout, reason = "its output is the table")]
#![allow(clippy::cast_precision_loss, reason = "times of a benchmark")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const SCRIPT: &str = include_str!("../src/render/backend/auth/external_auth.lua");
const VARIANTS: [&str; 3] = ["nothing", "lua", "spoe"];
const ROUNDS: usize = 5;

fn main() {
    let seconds = std::env::args().skip(1).find_map(|word| word.parse().ok()).unwrap_or(2);
    let (pod, auth) = (serve("pod"), serve("yes"));
    let agent = agent(auth);
    let folder = std::env::temp_dir().join(format!("outrigger-bench-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let front = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut haproxy = start(&folder, &configuration(&folder, front, pod, auth, agent));
    wait(front);

    for clients in [1, 16] {
        let mut results: [Vec<Result>; 3] = Default::default();
        for _ in 0..ROUNDS {
            for (variant, results) in VARIANTS.iter().zip(&mut results) {
                let before = processor_time(haproxy.id());
                let mut result = load(front, variant, clients, Duration::from_secs(seconds));
                result[3] = (processor_time(haproxy.id()) - before) / (result[0] * seconds as f64) * 1e6;
                results.push(result);
            }
        }
        println!(
            "\n| {clients} connections | requests/s | p50 ms | p99 ms | HAProxy's CPU µs |\n|---|---|---|---|---|"
        );
        for (variant, results) in VARIANTS.iter().zip(&results) {
            let median = |column: usize| {
                let mut values: Vec<f64> = results.iter().map(|result| result[column]).collect();
                values.sort_by(f64::total_cmp);
                values[values.len() / 2]
            };
            let [rate, half, most, cpu] = [median(0), median(1), median(2), median(3)];
            println!("| {variant} | {rate:.0} | {half:.2} | {most:.2} | {cpu:.0} |");
        }
    }
    let _ = haproxy.kill();
    let _ = haproxy.wait();
    let _ = std::fs::remove_dir_all(&folder);
}

fn configuration(
    folder: &Path,
    front: SocketAddr,
    pod: SocketAddr,
    auth: SocketAddr,
    agent: SocketAddr,
) -> String {
    let folder = folder.display();
    format!(
        "global
  tune.lua.bool-sample-conversion normal
  lua-load-per-thread {folder}/auth.lua
defaults
  mode http
  timeout connect 5s
  timeout client 50s
  timeout server 50s
frontend http
  bind {front}
  http-request set-var(txn.path) path
  http-request set-var(txn.host) req.fhdr(host),lower
  http-request set-header X-Forwarded-Proto http
  http-request set-header X-Forwarded-Host %[req.fhdr(host)]
  use_backend %[var(txn.host)]
backend nothing
  server pod {pod}
backend lua
  http-request lua.external-auth unix@{folder}/auth.sock auth sso.test GET /check 5000 * x-user -
  http-request return status 503 content-type text/plain string no unless {{ var(txn.auth_passed) -m str yes }}
  http-response lua.external-auth-cookies if {{ var(txn.auth_cookies) -m found }}
  server pod {pod}
backend spoe
  filter spoe engine auth config {folder}/spoe.cfg
  http-request return status 503 content-type text/plain string no unless {{ var(txn.auth.passed) -m bool }}
  server pod {pod}
frontend external-auth
  bind unix@{folder}/auth.sock mode 600
  http-request set-var(txn.backend) req.fhdr(x-outrigger-auth-backend)
  http-request del-header x-outrigger-auth-backend
  use_backend %[var(txn.backend)]
backend auth
  http-reuse always
  retry-on conn-failure empty-response
  option abortonclose
  server auth {auth} pool-low-conn 32
backend agents
  mode spop
  server agent {agent}
"
    )
}

const SPOE: &str = "[auth]
spoe-agent auth
  messages check
  option var-prefix auth
  timeout processing 5s
  use-backend agents
spoe-message check
  args method=method uri=pathq headers=req.hdrs
  event on-backend-http-request
";

fn start(folder: &Path, configuration: &str) -> Child {
    std::fs::write(folder.join("auth.lua"), SCRIPT).unwrap();
    std::fs::write(folder.join("spoe.cfg"), SPOE).unwrap();
    std::fs::write(folder.join("haproxy.cfg"), configuration).unwrap();
    let binaries = std::env::var_os("HAPROXY_BINARIES").map_or_else(
        || PathBuf::from(std::env::var_os("HOME").unwrap()).join(".cache/outrigger/haproxy"),
        PathBuf::from,
    );
    Command::new(binaries.join("3.2/haproxy")).arg("-f").arg(folder.join("haproxy.cfg")).spawn().unwrap()
}

/// Until every variant answers.
fn wait(front: SocketAddr) {
    let end = Instant::now() + Duration::from_secs(20);
    for variant in VARIANTS {
        while TcpStream::connect(front).ok().and_then(|mut stream| get(&mut stream, variant)) != Some(200) {
            assert!(Instant::now() < end, "{variant} does not answer");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// Requests/s, the median and 99th percentile of their latency in milliseconds, processor time of a request in microseconds.
type Result = [f64; 4];

/// Seconds of processor time that a process has used; ticks are hundredths on every Linux.
fn processor_time(pid: u32) -> f64 {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields = text.rsplit(") ").next().unwrap().split(' ').skip(11).take(2);
    fields.map(|ticks| ticks.parse::<f64>().unwrap()).sum::<f64>() / 100.0
}

/// Measures all but the processor time.
fn load(front: SocketAddr, variant: &str, clients: usize, time: Duration) -> Result {
    let end = Instant::now() + time;
    let one = || {
        let mut stream = TcpStream::connect(front).unwrap();
        stream.set_nodelay(true).unwrap();
        let mut times = Vec::new();
        while Instant::now() < end {
            let start = Instant::now();
            assert_eq!(get(&mut stream, variant), Some(200), "{variant}");
            times.push(start.elapsed().as_secs_f64() * 1_000.0);
        }
        times
    };
    let mut times: Vec<f64> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..clients).map(|_| scope.spawn(one)).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    times.sort_by(f64::total_cmp);
    [times.len() as f64 / time.as_secs_f64(), times[times.len() / 2], times[times.len() * 99 / 100], 0.0]
}

/// The status of one request on a kept connection.
fn get(stream: &mut TcpStream, host: &str) -> Option<u16> {
    let request = format!(
        "GET /shop/cart?item=17 HTTP/1.1\r\nHost: {host}\r\nUser-Agent: bench\r\nAccept: */*\r\nCookie: session=0123456789abcdef\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).ok()?;
    let mut bytes = [0; 4096];
    let mut length = 0;
    loop {
        let read = stream.read(&mut bytes[length..]).ok().filter(|read| *read > 0)?;
        length += read;
        let text = std::str::from_utf8(&bytes[..length]).ok()?;
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let size = head.lines().find_map(|line| line.strip_prefix("content-length: "))?.parse().ok()?;
        if body.len() >= size {
            return head.split(' ').nth(1)?.parse().ok();
        }
    }
}

/// A server that answers every request with 200 and this body.
fn serve(body: &'static str) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || {
                stream.set_nodelay(true).unwrap();
                let mut writer = stream.try_clone().unwrap();
                let mut reader = BufReader::new(stream);
                let answer = format!(
                    "HTTP/1.1 200 OK\r\nx-user: alice\r\ncontent-length: {}\r\n\r\n{body}",
                    body.len()
                );
                let mut line = String::new();
                while reader.read_line(&mut line).is_ok_and(|read| read > 0) {
                    if line == "\r\n" && writer.write_all(answer.as_bytes()).is_err() {
                        return;
                    }
                    line.clear();
                }
            });
        }
    });
    address
}

/// An SPOE agent (SPOP 2.0) that asks the service over kept connections, one for each of its threads.
fn agent(auth: SocketAddr) -> SocketAddr {
    type Job = (Vec<u8>, Arc<Mutex<TcpStream>>);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (sender, receiver) = channel::<Job>();
    let receiver = Arc::new(Mutex::new(receiver));
    for _ in 0..16 {
        let receiver: Arc<Mutex<Receiver<Job>>> = receiver.clone();
        std::thread::spawn(move || {
            let mut stream = TcpStream::connect(auth).unwrap();
            stream.set_nodelay(true).unwrap();
            loop {
                let Ok((ids, writer)) = receiver.lock().unwrap().recv() else { return };
                let passed = get(&mut stream, "sso.test") == Some(200);
                // ACK: set-var, three arguments, scope txn, name, boolean.
                let mut frame = vec![103, 0, 0, 0, 1];
                frame.extend(ids);
                frame.extend([1, 3, 2, 6]);
                frame.extend(b"passed");
                frame.push(if passed { 0x11 } else { 0x01 });
                let _ = write_frame(&mut writer.lock().unwrap(), &frame);
            }
        });
    }
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let sender = sender.clone();
            std::thread::spawn(move || {
                stream.set_nodelay(true).unwrap();
                let writer = Arc::new(Mutex::new(stream.try_clone().unwrap()));
                let mut reader = BufReader::new(stream);
                while let Some(frame) = read_frame(&mut reader) {
                    match frame[0] {
                        // HELLO
                        1 => {
                            let mut hello = vec![101, 0, 0, 0, 1, 0, 0];
                            text(&mut hello, b"version");
                            hello.push(8);
                            text(&mut hello, b"2.0");
                            text(&mut hello, b"max-frame-size");
                            // 16380 as a variable-length integer.
                            hello.extend([3, 0xfc, 0xf0, 0x06]);
                            text(&mut hello, b"capabilities");
                            hello.push(8);
                            text(&mut hello, b"pipelining");
                            write_frame(&mut writer.lock().unwrap(), &hello).unwrap();
                        }
                        // NOTIFY: the ids of stream and frame are behind type and flags.
                        3 => {
                            let end = skip_number(&frame, skip_number(&frame, 5));
                            sender.send((frame[5..end].to_vec(), writer.clone())).unwrap();
                        }
                        _ => return,
                    }
                }
            });
        }
    });
    address
}

fn text(frame: &mut Vec<u8>, text: &[u8]) {
    frame.push(u8::try_from(text.len()).unwrap());
    frame.extend(text);
}

fn skip_number(frame: &[u8], mut at: usize) -> usize {
    if frame[at] >= 240 {
        at += 1;
        while frame[at] >= 128 {
            at += 1;
        }
    }
    at + 1
}

fn read_frame(reader: &mut impl Read) -> Option<Vec<u8>> {
    let mut length = [0; 4];
    reader.read_exact(&mut length).ok()?;
    let mut frame = vec![0; usize::try_from(u32::from_be_bytes(length)).unwrap()];
    reader.read_exact(&mut frame).ok()?;
    Some(frame)
}

fn write_frame(writer: &mut TcpStream, frame: &[u8]) -> std::io::Result<()> {
    let mut bytes = u32::try_from(frame.len()).unwrap().to_be_bytes().to_vec();
    bytes.extend(frame);
    writer.write_all(&bytes)
}
