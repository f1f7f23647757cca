//! CPU time by stack: a timer of the process's CPU time (`ITIMER_PROF`) raises SIGPROF in a thread that runs, and the handler
//! notes where that thread is.
//!
//! The handler runs in the middle of anything, so it allocates nothing, takes no lock and waits for nobody: it writes numbers
//! into a static array. That array is all zeros in the program's file, so it takes no memory until a profile is made.
#![expect(
    unsafe_code,
    reason = "installing a handler, and the unwinder that it calls, are unsafe in every crate"
)]

use std::ffi::{c_int, c_void};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Instant, SystemTime};

use crate::profile::{Mapping, Profile, Sample, ValueType};

/// Samples per second of CPU time.
pub const FREQUENCY: u32 = 100;
/// Frames of a sample; callers beyond that are left out.
const DEPTH: usize = 96;
/// Numbers for all samples: 8 MiB, at some 40 frames enough for four minutes of CPU time.
const CAPACITY: usize = 1 << 20;

/// The samples, one behind the other: how many frames, and so many addresses.
static WORDS: [AtomicUsize; CAPACITY] = [const { AtomicUsize::new(0) }; CAPACITY];
/// How many of them are written.
static USED: AtomicUsize = AtomicUsize::new(0);
/// Samples that found no room, or another thread writing.
static LOST: AtomicUsize = AtomicUsize::new(0);
/// A thread writes, or the samples are being read: only who sets it may go on.
static BUSY: AtomicBool = AtomicBool::new(true);
/// Somebody makes a profile.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// Why no profile can be made.
#[derive(Debug, thiserror::Error)]
pub enum Unavailable {
    /// There is one process and one timer.
    #[error("another CPU profile is being made")]
    Running,
    /// The system said no.
    #[error("the profiling timer could not be started: {0}")]
    System(#[from] std::io::Error),
}

/// A profile in the making; dropping it stops the timer.
#[derive(Debug)]
pub struct Sampling {
    started: Instant,
    at: SystemTime,
    runs: bool,
}

impl Sampling {
    /// Starts the timer.
    pub fn start() -> Result<Self, Unavailable> {
        if TAKEN.swap(true, Ordering::Acquire) {
            return Err(Unavailable::Running);
        }
        // From here on dropping it gives the place free.
        let mut sampling = Self { started: Instant::now(), at: SystemTime::now(), runs: false };
        // The unwinder finds its tables at its first use, which is not for a handler.
        let _ = backtrace::Backtrace::new_unresolved();
        install()?;
        USED.store(0, Ordering::Relaxed);
        LOST.store(0, Ordering::Relaxed);
        BUSY.store(false, Ordering::Release);
        sampling.runs = true;
        set_timer(1_000_000 / FREQUENCY)?;
        Ok(sampling)
    }

    /// Stops the timer; gives the profile, and how many samples are not in it.
    pub fn finish(mut self) -> (Profile, usize) {
        self.stop();
        let words = WORDS.get(..USED.load(Ordering::Acquire)).unwrap_or_default();
        let per_sample = i64::from(1_000_000_000 / FREQUENCY);
        let mut words = words.iter().map(|word| word.load(Ordering::Relaxed));
        let mut samples: Vec<Sample> = Vec::new();
        while let Some(depth) = words.next() {
            let stack = words.by_ref().take(depth).collect();
            samples.push(Sample { stack, values: vec![1, per_sample] });
        }
        let cpu = ValueType { kind: "cpu", unit: "nanoseconds" };
        let profile = Profile {
            types: vec![ValueType { kind: "samples", unit: "count" }, cpu],
            samples: merged(samples),
            mappings: Mapping::of_this_process(),
            period: (cpu, per_sample),
            taken: self.at,
            duration: self.started.elapsed(),
        };
        (profile, LOST.load(Ordering::Relaxed))
    }

    /// After this no tick writes, and none is under way in another thread.
    fn stop(&mut self) {
        if std::mem::take(&mut self.runs) {
            // It fails for wrong arguments only.
            let _ = set_timer(0);
            while BUSY.swap(true, Ordering::Acquire) {
                std::thread::yield_now();
            }
        }
    }
}

impl Drop for Sampling {
    fn drop(&mut self) {
        self.stop();
        TAKEN.store(false, Ordering::Release);
    }
}

/// Equal stacks are one sample.
fn merged(mut samples: Vec<Sample>) -> Vec<Sample> {
    samples.sort_by(|a, b| a.stack.cmp(&b.stack));
    samples.dedup_by(|next, kept| {
        let equal = next.stack == kept.stack;
        if equal {
            kept.values.iter_mut().zip(&next.values).for_each(|(kept, next)| *kept += next);
        }
        equal
    });
    samples
}

/// The handler stays installed for ever: a tick may come after the timer is stopped, and without a handler it would end the
/// process (signal(7)).
fn install() -> std::io::Result<()> {
    // SAFETY: all zeros is a valid sigaction: an empty mask, no flags.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = on_tick as *const () as libc::sighandler_t;
    action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
    // SAFETY: the pointers are valid, and the handler has the form that SA_SIGINFO asks for.
    match unsafe { libc::sigaction(libc::SIGPROF, &raw const action, null_mut()) } {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error()),
    }
}

/// Every so many microseconds of CPU time; 0 is never.
fn set_timer(microseconds: u32) -> std::io::Result<()> {
    let every = libc::timeval { tv_sec: 0, tv_usec: microseconds.into() };
    let timer = libc::itimerval { it_interval: every, it_value: every };
    // SAFETY: the pointer is valid; the old timer is not asked for.
    match unsafe { libc::setitimer(libc::ITIMER_PROF, &raw const timer, null_mut()) } {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error()),
    }
}

extern "C" fn on_tick(_: c_int, _: *mut libc::siginfo_t, context: *mut c_void) {
    if BUSY.swap(true, Ordering::Acquire) {
        LOST.fetch_add(1, Ordering::Relaxed);
        return;
    }
    // SAFETY: it gives the address of this thread's errno, always.
    let errno = unsafe { libc::__errno_location() };
    // SAFETY: see above.
    let before = unsafe { *errno };
    note(interrupted(context));
    // SAFETY: see above. The unwinder may have set it under the feet of the code that was interrupted.
    unsafe { *errno = before };
    BUSY.store(false, Ordering::Release);
}

/// Writes a sample: the interrupted instruction, then its callers.
fn note(interrupted: usize) {
    let start = USED.load(Ordering::Relaxed);
    let put = |depth: usize, address: usize| {
        let word = WORDS.get(start + 1 + depth);
        word.is_some_and(|word| {
            word.store(address, Ordering::Relaxed);
            true
        })
    };
    let mut fits = put(0, interrupted);
    let mut depth = 1;
    let mut inside = true;
    // SAFETY: `BUSY` lets one thread in at a time, and nothing else in this program walks stacks without the lock of the
    // crate but for panics, which only read. The unwinders of glibc 2.35 and newer and of musl take no lock on the way.
    unsafe {
        backtrace::trace_unsynchronized(|frame| {
            let address = frame.ip() as usize;
            if inside {
                // The innermost frames are this handler's own, up to the instruction that was interrupted.
                inside = address != interrupted;
            } else {
                // Behind the call; the call is meant.
                fits = fits && put(depth, address.saturating_sub(1));
                depth += 1;
            }
            fits && depth < DEPTH
        });
    }
    match WORDS.get(start).filter(|_| fits) {
        Some(word) => {
            word.store(depth, Ordering::Relaxed);
            USED.store(start + 1 + depth, Ordering::Release);
        }
        None => {
            LOST.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// The instruction at which the signal came.
fn interrupted(context: *mut c_void) -> usize {
    let context = context.cast::<libc::ucontext_t>();
    // SAFETY: the third argument of a handler with SA_SIGINFO is a valid ucontext_t (sigaction(2)).
    let Some(context) = (unsafe { context.as_ref() }) else { return 0 };
    #[cfg(target_arch = "x86_64")]
    let address = context.uc_mcontext.gregs.get(libc::REG_RIP.unsigned_abs() as usize).copied();
    #[cfg(target_arch = "aarch64")]
    let address = Some(context.uc_mcontext.pc);
    address.and_then(|address| usize::try_from(address).ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[inline(never)]
    fn busy_work(until: Instant) -> u64 {
        let mut sum = 0_u64;
        while Instant::now() < until {
            sum = (0..1_000_000_u64).fold(sum, |sum, i| std::hint::black_box(sum ^ i));
        }
        sum
    }

    #[test]
    fn the_function_that_works_is_in_the_profile_and_there_is_one_profile_at_a_time() {
        let sampling = Sampling::start().unwrap();
        assert!(matches!(Sampling::start(), Err(Unavailable::Running)));
        busy_work(Instant::now() + std::time::Duration::from_millis(500));
        let (profile, _) = sampling.finish();
        let symbols = crate::Symbols::default();
        let of_work = |sample: &&Sample| {
            let mut names = sample.stack.iter().flat_map(|address| symbols.at(*address));
            names.any(|line| line.function.contains("busy_work"))
        };
        let worked: i64 = profile.samples.iter().filter(of_work).map(|sample| sample.values[0]).sum();
        assert!(worked >= 5, "{worked} samples of busy_work");
        drop(Sampling::start().unwrap());
        drop(Sampling::start().unwrap());
    }
}
