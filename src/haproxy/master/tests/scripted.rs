//! A scripted master on a unix socket.

use std::time::Duration;

use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::haproxy::testing::soon;
use crate::haproxy::{Answer, Error, Master, Request};

/// What the script does with the next command.
enum Step {
    /// Sends these pieces, each in a packet of its own.
    Say(&'static [&'static str]),
    /// Says this when the test lets it.
    SayWhenTold(&'static str, mpsc::Receiver<()>),
    /// Sends this and closes.
    SayAndClose(&'static str),
}

/// One connection after another, each with its steps; what it was sent.
fn script(connections: Vec<Vec<Step>>) -> (TempDir, Master, mpsc::UnboundedReceiver<String>) {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("master.sock");
    let listener = UnixListener::bind(&path).unwrap();
    let (sent, received) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        for steps in connections {
            let (mut socket, _) = listener.accept().await.unwrap();
            assert_eq!(line(&mut socket).await.as_deref(), Some("prompt\n"));
            socket.write_all(b"master> ").await.unwrap();
            for step in steps {
                let Some(command) = line(&mut socket).await else { break };
                let _ = sent.send(command);
                match step {
                    Step::Say(pieces) => {
                        for piece in pieces {
                            socket.write_all(piece.as_bytes()).await.unwrap();
                            socket.flush().await.unwrap();
                            tokio::task::yield_now().await;
                        }
                    }
                    Step::SayWhenTold(text, mut told) => {
                        told.recv().await;
                        socket.write_all(text.as_bytes()).await.unwrap();
                    }
                    Step::SayAndClose(text) => {
                        socket.write_all(text.as_bytes()).await.unwrap();
                        break;
                    }
                }
            }
        }
    });
    let master = Master::connect(path);
    (folder, master, received)
}

async fn line(socket: &mut UnixStream) -> Option<String> {
    let mut line = Vec::new();
    while line.last() != Some(&b'\n') {
        line.push(socket.read_u8().await.ok()?);
    }
    Some(String::from_utf8(line).unwrap())
}

fn answer(text: &str) -> Answer {
    Answer { text: text.into(), reload_failed: false, complete: true }
}

#[tokio::test]
async fn answers_come_whole_however_they_are_cut() {
    let (_folder, master, _) = script(vec![vec![
        Step::Say(&["a", "b\n", "\n", "mas", "ter> "]),
        Step::Say(&["x\nmaster> y", "\n\nmaster[Reload", "Failed]> "]),
        Step::Say(&["\nmaster> "]),
    ]]);
    assert_eq!(master.send(Request::master("show a"), soon()).await, Ok(answer("ab")));
    let failed = master.send(Request::master("show b"), soon()).await.unwrap();
    assert_eq!((failed.text.as_str(), failed.reload_failed), ("x\nmaster> y", true));
    assert_eq!(master.send(Request::worker("add x"), soon()).await, Ok(answer("")));
}

#[tokio::test]
async fn a_late_answer_is_read_and_belongs_to_nobody_else() {
    let (tell, told) = mpsc::channel(1);
    let (_folder, master, mut sent) =
        script(vec![vec![Step::SayWhenTold("late\n\nmaster> ", told), Step::Say(&["mine\n\nmaster> "])]]);
    let closed = master.closed();
    let late = master.send(Request::worker("add x"), Instant::now() + Duration::from_millis(20)).await;
    assert_eq!(late, Err(Error::Unknown { command: "@1 add x".into() }));
    assert_eq!(sent.recv().await.unwrap(), "@1 add x\n");
    // Waits for its turn and is never sent, as its deadline passes before.
    let queued = master.send(Request::worker("add y"), Instant::now() + Duration::from_millis(20)).await;
    assert!(matches!(queued, Err(Error::NotSent { .. })), "{queued:?}");
    let next = {
        let master = master.clone();
        tokio::spawn(async move { master.send(Request::worker("add z"), soon()).await })
    };
    tell.send(()).await.unwrap();
    assert_eq!(next.await.unwrap(), Ok(answer("mine")));
    assert_eq!(sent.recv().await.unwrap(), "@1 add z\n");
    assert!(!closed.has_changed().unwrap(), "the connection was kept");
}

#[tokio::test]
async fn a_change_whose_answer_is_cut_off_is_unknown_and_not_repeated() {
    let (_folder, master, mut sent) =
        script(vec![vec![Step::SayAndClose("half an ans")], vec![Step::Say(&["ok\n\nmaster> "])]]);
    let closed = master.closed();
    let cut = master.send(Request::worker("add x"), soon()).await;
    assert_eq!(cut, Err(Error::Unknown { command: "@1 add x".into() }));
    assert!(closed.has_changed().unwrap());
    assert_eq!(master.send(Request::worker("add y"), soon()).await, Ok(answer("ok")));
    assert_eq!(sent.recv().await.unwrap(), "@1 add x\n");
    assert_eq!(sent.recv().await.unwrap(), "@1 add y\n");
}

#[tokio::test]
async fn a_read_is_repeated_on_a_new_connection() {
    let (_folder, master, _) =
        script(vec![vec![Step::SayAndClose("half")], vec![], vec![Step::Say(&["whole\n\nmaster> "])]]);
    assert_eq!(master.send(Request::worker("show map"), soon()).await, Ok(answer("whole")));
}

#[tokio::test]
async fn the_end_of_the_connection_is_the_answer_of_a_reload() {
    let (_folder, master, _) = script(vec![
        vec![Step::SayAndClose("Success=1\n--\nfine\n\n")],
        vec![Step::SayAndClose("")],
        vec![Step::Say(&["ok\n\nmaster> "])],
    ]);
    for text in ["Success=1\n--\nfine", ""] {
        let answer = master.send(Request::master("reload"), soon()).await.unwrap();
        assert_eq!(answer, Answer { text: text.into(), reload_failed: false, complete: false });
    }
    assert_eq!(master.send(Request::master("show proc"), soon()).await, Ok(answer("ok")));
}

#[tokio::test]
async fn a_missing_socket_is_waited_for_until_the_deadline() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("master.sock");
    let master = Master::connect(&path);
    let error =
        master.send(Request::worker("add x"), Instant::now() + Duration::from_millis(50)).await.unwrap_err();
    assert!(matches!(error, Error::NotSent { .. }));
    assert!(error.to_string().contains("No such file"), "{error}");
    let waiting = {
        let master = master.clone();
        tokio::spawn(async move { master.send(Request::master("show proc"), soon()).await })
    };
    let listener = UnixListener::bind(&path).unwrap();
    let (mut socket, _) = listener.accept().await.unwrap();
    assert_eq!(line(&mut socket).await.as_deref(), Some("prompt\n"));
    socket.write_all(b"master> ").await.unwrap();
    assert_eq!(line(&mut socket).await.as_deref(), Some("show proc\n"));
    socket.write_all(b"here\n\nmaster> ").await.unwrap();
    assert_eq!(waiting.await.unwrap(), Ok(answer("here")));
}

#[tokio::test]
async fn a_message_that_is_too_large_does_not_disturb_the_connection() {
    let (_folder, master, _) = script(vec![vec![Step::Say(&["ok\n\nmaster> "])]]);
    let huge = Request::worker("set ssl cert").payload(&"x".repeat(20_000)).unwrap();
    assert!(matches!(master.send(huge, soon()).await, Err(Error::TooLarge { .. })));
    assert_eq!(master.send(Request::master("show proc"), soon()).await, Ok(answer("ok")));
}

#[tokio::test]
async fn a_large_answer_that_was_cut_off_is_asked_for_again() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("master.sock");
    let listener = UnixListener::bind(&path).unwrap();
    tokio::spawn(async move {
        for text in ["", "0x1 a", "0x1 a b\n", "0x1 a b\n\n", "\n"] {
            let (mut socket, _) = listener.accept().await.unwrap();
            let mut command = String::new();
            socket.read_to_string(&mut command).await.unwrap();
            assert_eq!(command, "@1 show map\n");
            socket.write_all(text.as_bytes()).await.unwrap();
        }
    });
    let master = Master::connect(path);
    assert_eq!(master.read_large(Request::worker("show map"), soon()).await.as_deref(), Ok("0x1 a b"));
    assert_eq!(master.read_large(Request::worker("show map"), soon()).await.as_deref(), Ok(""));
    let change = master.read_large(Request::worker("add map"), soon()).await;
    assert_eq!(change, Err(Error::Unspeakable("@1 add map".into())));
}
