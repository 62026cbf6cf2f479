//! The command `weft` as its users meet it: on a terminal, and in scripts and pipes.

mod script;
mod terminal;
