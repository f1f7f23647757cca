//! Profiles of the running program that `go tool pprof` reads: CPU time and heap, each with the stack that caused it.
//!
//! Until somebody asks nothing is installed, sampled or allocated. A profile is a value; [`Profile::encode`] writes it as the
//! protobuf of pprof's `profile.proto`, with names and lines that the program finds in its own file.

mod cpu;
mod encode;
mod heap;
mod profile;
mod symbols;

pub use cpu::{FREQUENCY, Sampling, Unavailable};
pub use heap::{HeapError, heap, restart_with_sampling, samples_heap};
pub use profile::{Mapping, Profile, Sample, ValueType};
pub use symbols::{Line, Symbols, name_of};

/// jemalloc: the allocator whose samples [`heap()`] shows. It is also several times faster than musl's own.
pub use tikv_jemallocator::Jemalloc as Allocator;
