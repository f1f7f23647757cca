//! Work in the network of the node: where Services, pods and node ports are reached.

use std::fs::File;
use std::future::Future;
use std::os::fd::AsFd;
use std::thread::JoinHandle;

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

use super::Node;

/// Runs it on a thread of its own that has moved into the namespace (a namespace is a thread's, see setns(2)).
pub(crate) fn start<T: Send + 'static>(
    node: &Node,
    work: impl FnOnce() -> T + Send + 'static,
) -> JoinHandle<T> {
    let network: File = node.network();
    std::thread::spawn(move || {
        move_into_link_name_space(network.as_fd(), Some(LinkNameSpaceType::Network)).unwrap();
        work()
    })
}

/// Runs it to its end; a panic inside is one here.
pub(crate) fn run<T: Send + 'static>(node: &Node, work: impl FnOnce() -> T + Send + 'static) -> T {
    start(node, work).join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// An asynchronous program on one thread of the namespace.
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}
