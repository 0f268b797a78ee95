//! A view stays with its thread: a channel cannot send it to another.

use cuda_std::prelude::*;
use std::sync::mpsc;

fn share(sender: &(impl Fn(Global<'_, f32>) + Sync), x: Global<f32>) {
    sender(x);
}

#[kernel]
pub fn send(x: Global<f32>) {
    let (sender, receiver) = mpsc::channel();
    share(&|x| sender.send(x).unwrap(), x);
    std::thread::spawn(move || drop(receiver.recv()));
}

fn main() {}
