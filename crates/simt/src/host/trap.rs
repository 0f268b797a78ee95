//! Stops a simulated thread whose stack has overflowed, or whose time is up, from a signal handler.
//!
//! The guard page below a stack turns an overflow into SIGSEGV (SIGBUS on some systems). rustc makes
//! large frames touch each of their pages in order (stack probes), so that none jumps over it. The
//! handler resets the coroutine to return at once, as
//! [`setup_trap_handler`](corosensei::trap::CoroutineTrapHandler::setup_trap_handler) does; all
//! other faults go to the handler that was there before, such as that of Rust's runtime.
//!
//! Frames of the C library may hold its locks, for example that of `malloc`: an overflow in one of
//! them ends the process with a message.

use super::message::{ADVICE, OVER, Place, abort_after, abort_with, say};
use super::registers::{Registers, set_registers};
use crate::block::{Block, Thread};
use crate::current::try_with_current;
use crate::state::{HostThread, Left};
use std::ffi::CStr;
use std::mem::zeroed;
use std::ops::Range;
use std::ptr;
use std::sync::{Once, OnceLock};

/// The message where the process cannot go on.
const IN_C_LIBRARY: &str = "the stack has overflowed in a function of the C library, which may hold \
locks, and that ends the process; raise `Options::stack_bytes` (`SimulatorOptions::with_stack_bytes`)";

/// Signals that an access of a guard page may raise.
const FAULTS: [libc::c_int; 2] = [libc::SIGSEGV, libc::SIGBUS];

/// By default it is ignored, and Go's runtime uses it for the same purpose.
const INTERRUPT: libc::c_int = libc::SIGURG;

/// Data that the handler reads: it is complete before the handler is installed.
struct Installed {
    page_bytes: usize,
    /// The ranges of code whose frames hold no lock of the C library.
    code: Vec<Range<usize>>,
    /// The handlers that were there before, in the order of [`FAULTS`].
    previous: [libc::sigaction; FAULTS.len()],
}

static INSTALLED: OnceLock<Installed> = OnceLock::new();

static PREVIOUS_INTERRUPT: OnceLock<libc::sigaction> = OnceLock::new();

/// Installs the handler, once per process.
pub(crate) fn install() {
    INSTALLED.get_or_init(|| Installed {
        page_bytes: page_bytes(),
        code: code_of_kernels(),
        previous: FAULTS.map(action_of),
    });
    static INSTALL: Once = Once::new();
    INSTALL.call_once(|| FAULTS.iter().for_each(|signal| handle(*signal, on_fault)));
}

/// Interrupts a worker, which may then stop the simulated thread that it runs. The signal's handler
/// is installed when it is first needed.
pub(crate) fn interrupt(worker: &HostThread) {
    PREVIOUS_INTERRUPT.get_or_init(|| action_of(INTERRUPT));
    static INSTALL: Once = Once::new();
    INSTALL.call_once(|| handle(INTERRUPT, on_interrupt));
    worker.signal(INTERRUPT);
}

type Handler = extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void);

fn handle(signal: libc::c_int, handler: Handler) {
    // SAFETY: all zeros is a valid `sigaction`; the handler has the type that `SA_SIGINFO`
    // requires, and calls only async-signal-safe functions.
    unsafe {
        let mut action: libc::sigaction = zeroed();
        action.sa_sigaction = handler as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESTART;
        libc::sigaction(signal, &action, ptr::null_mut());
    }
}

fn action_of(signal: libc::c_int) -> libc::sigaction {
    // SAFETY: all zeros is a valid `sigaction`, and a null pointer leaves the action as it is.
    unsafe {
        let mut action = zeroed();
        libc::sigaction(signal, ptr::null(), &mut action);
        action
    }
}

fn page_bytes() -> usize {
    // SAFETY: the call has no requirements.
    let bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(bytes).unwrap_or(4096)
}

/// Gives the calling host thread a stack for signal handlers, if it has none. Threads of Rust's
/// standard library usually have one.
pub(crate) fn ensure_signal_stack() {
    const BYTES: usize = 64 * 1024;
    // SAFETY: all zeros is a valid `stack_t`, and a null pointer leaves the stack as it is.
    let mut stack: libc::stack_t = unsafe { zeroed() };
    // SAFETY: a null pointer leaves the stack as it is.
    unsafe { libc::sigaltstack(ptr::null(), &mut stack) };
    if stack.ss_flags & libc::SS_DISABLE == 0 {
        return;
    }
    stack.ss_sp = Vec::leak(vec![0_u8; BYTES]).as_mut_ptr().cast();
    stack.ss_size = BYTES;
    stack.ss_flags = 0;
    // SAFETY: the memory is leaked, so it outlives the thread, and nothing else uses it.
    unsafe { libc::sigaltstack(&stack, ptr::null_mut()) };
}

/// The code of the program itself and of the mathematical library. It does not include a kernel in
/// another library than the simulator's.
fn code_of_kernels() -> Vec<Range<usize>> {
    let mut code: Vec<Range<usize>> = Vec::new();
    // SAFETY: the callback gets the vector, which nothing else uses meanwhile.
    unsafe { libc::dl_iterate_phdr(Some(add_code_of), (&raw mut code).cast()) };
    code
}

/// Adds the executable segments of a loaded object whose frames hold no lock.
unsafe extern "C" fn add_code_of(
    info: *mut libc::dl_phdr_info,
    _bytes: usize,
    code: *mut libc::c_void,
) -> libc::c_int {
    // SAFETY: `dl_iterate_phdr` gives valid objects, with as many headers as it says and a name
    // that ends with zero; `code` is the vector of `code_of_kernels`.
    let (info, code, headers, name) = unsafe {
        let info = &*info;
        let headers = std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum));
        let name = match info.dlpi_name.is_null() {
            true => c"",
            false => CStr::from_ptr(info.dlpi_name),
        };
        (info, &mut *code.cast::<Vec<Range<usize>>>(), headers, name)
    };
    let segments: Vec<Range<usize>> = headers
        .iter()
        .filter(|header| header.p_type == libc::PT_LOAD && header.p_flags & libc::PF_X != 0)
        .map(|header| {
            let start = (info.dlpi_addr + header.p_vaddr) as usize;
            start..start + header.p_memsz as usize
        })
        .collect();
    let own = install as fn() as usize;
    let is_own = segments.iter().any(|segment| segment.contains(&own));
    let is_mathematics = name
        .to_bytes()
        .rsplit(|byte| *byte == b'/')
        .next()
        .is_some_and(|file| file.starts_with(b"libm.") || file.starts_with(b"libm-"));
    if is_own || is_mathematics {
        code.extend(segments);
    }
    0
}

extern "C" fn on_fault(
    signal: libc::c_int,
    info: *mut libc::siginfo_t,
    context: *mut libc::c_void,
) {
    let Some(installed) = INSTALLED.get() else {
        return;
    };
    // SAFETY: the operating system gives the handler of a fault its address and its context.
    let (address, context) = unsafe {
        (
            (*info).si_addr() as usize,
            &mut *context.cast::<libc::ucontext_t>(),
        )
    };
    let is_overflow = try_with_current(|thread, block| {
        let guard = thread.confinement.guard();
        let is_overflow = (guard..guard + installed.page_bytes).contains(&address);
        if is_overflow {
            // SAFETY: the context belongs to the interrupted coroutine, which is `thread`'s.
            unsafe { installed.stop(thread, block, context) };
        }
        is_overflow
    });
    if is_overflow != Some(true) {
        let of_signal = FAULTS.iter().position(|fault| *fault == signal);
        let previous = &installed.previous[of_signal.unwrap_or(0)];
        hand_on(previous, signal, info, context);
    }
}

/// Stops the simulated thread that the host thread runs, if its block's time is up and it is in a
/// loop of kernel code. It must not be in the simulator's code, in a foreign library, or in a
/// function that the loop calls, which may have left something half done; if it is, a later signal
/// may find it in the loop.
extern "C" fn on_interrupt(
    signal: libc::c_int,
    info: *mut libc::siginfo_t,
    context: *mut libc::c_void,
) {
    // SAFETY: the operating system gives each handler a context.
    let context = unsafe { &mut *context.cast::<libc::ucontext_t>() };
    let Some(installed) = INSTALLED.get() else {
        return;
    };
    let is_ours = try_with_current(|thread, block| {
        let is_over = block.watched.is_over();
        if is_over {
            // SAFETY: the context belongs to the interrupted host thread, which runs `thread`.
            unsafe { installed.stop_loop(thread, block, context) };
            if thread.confinement.left().is_none()
                && let Some(waits_for_host) = block.watched.doomed()
            {
                end_process(thread, block, waits_for_host);
            }
        }
        is_over
    });
    if is_ours != Some(true)
        && let Some(previous) = PREVIOUS_INTERRUPT.get()
    {
        hand_on(previous, signal, info, context);
    }
}

impl Installed {
    /// Stops a thread whose block's time is up, if it was interrupted in the looping function.
    ///
    /// # Safety
    ///
    /// 1. `context` belongs to the interrupted host thread, which runs `thread`.
    unsafe fn stop_loop(&self, thread: &Thread, block: &Block, context: &mut libc::ucontext_t) {
        let confinement = &thread.confinement;
        let registers = Registers::of(context);
        let handler = confinement.trap_handler();
        let Some(handler) = handler.filter(|it| it.stack_ptr_in_bounds(registers.stack)) else {
            return;
        };
        if block.watched.is_looping_frame(registers.stack)
            && confinement.can_be_stopped()
            && confinement.left().is_none()
            && self.code.iter().any(|code| code.contains(&registers.code))
            && !std::thread::panicking()
        {
            confinement.note_left(Left::TimeLimit, registers.stack);
            // SAFETY: the context belongs to the running coroutine of `thread`: the caller's
            // contract.
            unsafe { set_registers(context, handler.setup_trap_handler(|| ())) };
        }
    }

    /// Makes the interrupted coroutine return at once; its frames are left as they are.
    ///
    /// # Safety
    ///
    /// 1. `context` belongs to the running coroutine, which is `thread`'s.
    unsafe fn stop(&self, thread: &Thread, block: &Block, context: &mut libc::ucontext_t) {
        let registers = Registers::of(context);
        let can_be_stopped = thread.confinement.can_be_stopped()
            && self.code.iter().any(|code| code.contains(&registers.code));
        let handler = thread.confinement.trap_handler();
        let handler = handler.filter(|it| it.stack_ptr_in_bounds(registers.stack));
        match handler {
            Some(handler) if can_be_stopped => {
                let guard_end = thread.confinement.guard() + self.page_bytes;
                let frames = registers.stack.max(guard_end);
                thread.confinement.note_left(Left::StackOverflow, frames);
                // SAFETY: the stack pointer is within the coroutine's stack, and all registers are
                // set as the handler requires. Only frames of the coroutine's root are overwritten
                // (`ROOT_BYTES`); the kernel's frames stay and never run again.
                unsafe { set_registers(context, handler.setup_trap_handler(|| ())) };
            }
            _ => abort_with(format_args!("{}: {IN_C_LIBRARY}\n", Place(thread, block))),
        }
    }
}

/// Ends the process because the running thread cannot be stopped.
fn end_process(thread: &Thread, block: &Block, waits_for_host: bool) -> ! {
    abort_after(|| say_what_it_does(thread, block, waits_for_host))
}

/// Describes the activity of a thread that cannot be stopped.
fn say_what_it_does(thread: &Thread, block: &Block, waits_for_host: bool) {
    let does = match waits_for_host {
        true => "waits for the host, such as for a lock, a channel or input",
        false => "loops in a destructor while it unwinds, or in a foreign library",
    };
    say(format_args!(
        "{}: {OVER}. The thread {does}.\n",
        Place(thread, block)
    ));
    if let Some(site) = thread.last_wait() {
        say(format_args!(
            "The last line at which it waited is {site}.\n"
        ));
    }
    let may_hold_lock = |it: &&Thread| waits_for_host && it.is_suspended();
    let mut waiting = block.threads.iter().filter(may_hold_lock);
    if let Some(first) = waiting.next() {
        say(format_args!(
            "Thread {} waits at {}, and {} other threads of the block wait: a lock that one of them holds \
             stays locked.\n",
            first.position.thread_idx,
            first.site.get(),
            waiting.count(),
        ));
    }
    say(format_args!("{ADVICE}\n"));
}

/// Handles a signal as it would have been handled without this handler.
fn hand_on(
    previous: &libc::sigaction,
    signal: libc::c_int,
    info: *mut libc::siginfo_t,
    context: &mut libc::ucontext_t,
) {
    match previous.sa_sigaction {
        libc::SIG_DFL | libc::SIG_IGN if signal == INTERRUPT => {}
        // The access is repeated when the handler returns, and ends the process.
        libc::SIG_DFL | libc::SIG_IGN => {
            // SAFETY: the action was in force before.
            unsafe { libc::sigaction(signal, previous, ptr::null_mut()) };
        }
        handler if previous.sa_flags & libc::SA_SIGINFO != 0 => {
            // SAFETY: with the flag, the address is a function of this type.
            unsafe {
                let handler = std::mem::transmute::<usize, Handler>(handler);
                handler(signal, info, ptr::from_mut(context).cast());
            }
        }
        handler => {
            // SAFETY: without the flag, the address is a function of this type.
            unsafe {
                let handler = std::mem::transmute::<usize, extern "C" fn(libc::c_int)>(handler);
                handler(signal);
            }
        }
    }
}
