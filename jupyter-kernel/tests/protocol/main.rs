//! The kernel through its sockets, as a child process.

#![allow(clippy::print_stdout, reason = "measured times are worth seeing with --show-output")]

mod bench;
mod compiled;
mod faults;
mod messages;
mod strangers;
