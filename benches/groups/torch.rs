//! torch with NCCL, a process for each device.

use crate::common::Result;
use crate::common::steady::Steady;
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

const PROGRAM: &str = include_str!("torch.py");

/// Time limit of a product, including the start of the processes.
const TIMEOUT: Duration = Duration::from_secs(120);

/// The version of torch, or the error if there is none.
pub fn version() -> Result<String> {
    let program = "import torch; print(torch.__version__, 'with NCCL', *torch.cuda.nccl.version())";
    let output = Command::new("python3").args(["-c", program]).output()?;
    match output.status.success() {
        true => Ok(String::from_utf8(output.stdout)?.trim().to_owned()),
        false => {
            let words = String::from_utf8_lossy(&output.stderr);
            Err(words.lines().last().unwrap_or("no torch").to_owned().into())
        }
    }
}

/// Seconds of an all-gather of B and a product of square matrices of `size` rows, on `ranks` devices.
pub fn seconds(ranks: usize, element: &str, size: usize, steady: Steady) -> Result<f64> {
    // A port that is free now.
    let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
    let start = |rank: usize| {
        let mut command = Command::new("python3");
        command.args(["-c", PROGRAM, element, &size.to_string()]);
        command.args([steady.warm_up, steady.sample].map(|it| it.as_secs_f64().to_string()));
        command.arg(steady.samples.to_string());
        command.env("RANK", rank.to_string());
        command.env("WORLD_SIZE", ranks.to_string());
        command.env("MASTER_ADDR", "127.0.0.1");
        command.env("MASTER_PORT", port.to_string());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn()
    };
    let ranks = (0..ranks).map(start).collect::<std::io::Result<Vec<_>>>();
    let mut ranks = Ranks(ranks?);
    let deadline = Instant::now() + TIMEOUT;
    while !ranks.are_done()? {
        if Instant::now() > deadline {
            return Err("it ran out of time".into());
        }
        sleep(Duration::from_millis(20));
    }
    let mut seconds = None;
    for rank in ranks.0.drain(..) {
        let output = rank.wait_with_output()?;
        if !output.status.success() {
            let words = String::from_utf8_lossy(&output.stderr);
            return Err(words
                .lines()
                .last()
                .unwrap_or("it failed")
                .to_owned()
                .into());
        }
        seconds = seconds.or(String::from_utf8(output.stdout)?.trim().parse().ok());
    }
    seconds.ok_or_else(|| "it printed no time".into())
}

/// The processes, killed on drop.
struct Ranks(Vec<Child>);

impl Ranks {
    /// Whether all have ended, or one has failed.
    fn are_done(&mut self) -> Result<bool> {
        let mut all = true;
        for rank in &mut self.0 {
            match rank.try_wait()? {
                Some(status) if !status.success() => return Ok(true),
                Some(_) => {}
                None => all = false,
            }
        }
        Ok(all)
    }
}

impl Drop for Ranks {
    fn drop(&mut self) {
        for rank in &mut self.0 {
            // Fails if the process has already ended.
            let _ = rank.kill();
            let _ = rank.wait();
        }
    }
}
