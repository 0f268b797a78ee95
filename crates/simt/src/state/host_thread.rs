//! A host thread as the watchdog sees it: its processor time, and its signals.

#[cfg(target_os = "linux")]
mod system {
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    use super::super::samples::Samples;
    use std::fs::File;
    use std::os::unix::fs::FileExt;

    /// A thread that has not ended.
    pub(crate) struct HostThread {
        #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
        thread: libc::pthread_t,
        clock: Option<libc::clockid_t>,
        /// The file with the thread's state, if the system has one.
        stat: Option<File>,
        /// The places at which its blocks were interrupted.
        #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
        pub(crate) samples: Samples,
    }

    impl HostThread {
        /// The calling thread. The value must not be used after it has ended.
        pub fn current() -> Self {
            let mut clock = 0;
            // SAFETY: the call has no requirements.
            let thread = unsafe { libc::pthread_self() };
            // SAFETY: the thread is running, and `clock` is a local that can be written.
            let error = unsafe { libc::pthread_getcpuclockid(thread, &mut clock) };
            Self {
                #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
                thread,
                clock: (error == 0).then_some(clock),
                stat: File::open("/proc/thread-self/stat").ok(),
                #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
                samples: Samples::new(),
            }
        }

        /// The processor time that the thread has taken.
        pub fn processor_nanoseconds(&self) -> u64 {
            let Some(clock) = self.clock else { return 0 };
            let mut time = libc::timespec {
                tv_sec: 0,
                tv_nsec: 0,
            };
            // SAFETY: `time` is a local that can be written; the call fails for a clock that no
            // longer exists.
            match unsafe { libc::clock_gettime(clock, &mut time) } {
                0 => time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64,
                _ => 0,
            }
        }

        /// Whether the thread is known to sleep until something happens: it neither runs nor waits for a processor.
        pub fn is_asleep(&self) -> bool {
            // The name of the thread, in parentheses, has at most 15 bytes.
            let mut text = [0; 64];
            let read = self.stat.as_ref().map(|stat| stat.read_at(&mut text, 0));
            let Some(Ok(bytes)) = read else { return false };
            let end_of_name = text[..bytes].iter().rposition(|byte| *byte == b')');
            // "12 (simt-0) S 1 ...": `proc_pid_stat(5)`.
            end_of_name.is_some_and(|end| text.get(end + 2) == Some(&b'S'))
        }

        /// Sends a signal to the thread.
        #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
        pub fn signal(&self, signal: libc::c_int) {
            // SAFETY: the thread has not ended, because a worker is forgotten before its thread
            // ends.
            unsafe { libc::pthread_kill(self.thread, signal) };
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use std::time::Instant;

    /// On this system, only elapsed time is known, and nothing can be interrupted.
    pub(crate) struct HostThread(Instant);

    impl HostThread {
        /// The calling thread.
        pub fn current() -> Self {
            Self(Instant::now())
        }

        /// The elapsed time.
        pub fn processor_nanoseconds(&self) -> u64 {
            self.0.elapsed().as_nanos() as u64
        }

        /// Elapsed time counts anyway.
        pub fn is_asleep(&self) -> bool {
            false
        }
    }
}

pub(crate) use system::HostThread;
