//! A name server of one name, in the network of the node: the answer to all other names is that they do not exist.

use std::net::{Ipv4Addr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use super::node::NODE_IP;
use super::{Node, inside};

/// While this lives, the node's address answers on port 53.
pub(crate) struct NameServer {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl NameServer {
    pub(crate) fn start(node: &Node, name: &str, address: Ipv4Addr) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let (stopped, name) = (stop.clone(), question(name));
        let socket = inside::run(node, || UdpSocket::bind((NODE_IP, 53)).unwrap());
        // To see that it shall stop.
        socket.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
        let thread = std::thread::spawn(move || {
            let mut packet = [0; 512];
            while !stopped.load(Ordering::SeqCst) {
                let Ok((length, client)) = socket.recv_from(&mut packet) else { continue };
                if let Some(answer) = answer(&packet[..length], &name, address) {
                    let _ = socket.send_to(&answer, client);
                }
            }
        });
        Self { stop, thread: Some(thread) }
    }
}

impl Drop for NameServer {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

/// A name as questions have it: each label behind its length (RFC 1035, section 4.1.2).
fn question(name: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    for label in name.split('.') {
        bytes.push(u8::try_from(label.len()).unwrap());
        bytes.extend(label.to_ascii_lowercase().bytes());
    }
    bytes.push(0);
    bytes
}

/// The address to a question of type A, nothing to other types, "no such name" to other names.
fn answer(packet: &[u8], name: &[u8], address: Ipv4Addr) -> Option<Vec<u8>> {
    let asked = packet.get(12..)?;
    let end = asked.iter().position(|byte| *byte == 0)? + 1;
    let known = asked.get(..end)?.to_ascii_lowercase() == name;
    let wants_address = asked.get(end..end + 2)? == [0, 1];
    let found = u8::from(known && wants_address);
    let mut reply = packet.get(..2)?.to_vec();
    // An authoritative answer with one question; its code is 3 for a name that does not exist.
    reply.extend([0x85, if known { 0x80 } else { 0x83 }, 0, 1, 0, found, 0, 0, 0, 0]);
    reply.extend(asked.get(..end + 4)?);
    if found == 1 {
        // The name by its place in the packet, type A, class IN, for a second, four bytes.
        reply.extend([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 1, 0, 4]);
        reply.extend(address.octets());
    }
    Some(reply)
}
