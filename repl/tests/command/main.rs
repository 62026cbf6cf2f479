//! The command `weft` as its users meet it: on a terminal, and in scripts and pipes.

mod cache;
mod script;
mod terminal;
