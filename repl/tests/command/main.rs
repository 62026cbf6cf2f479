//! The command `weft` as its users meet it: on a terminal, and in scripts and pipes.
#![allow(clippy::print_stdout, reason = "what was skipped or measured")]

mod cache;
mod input;
mod limits;
mod script;
mod terminal;
mod typing;
