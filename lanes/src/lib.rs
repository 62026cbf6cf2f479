//! Loops over lanes: what the block interpreter of `weft-cpu` is made of.
//!
//! Every scalar operator and every common fold is a loop for each type that it admits, and many of
//! these in two versions. Compiling them takes long and they seldom change, so they are a crate of
//! their own. Nothing that a user of this crate calls is generic in an operator: operators are looked
//! up ([`operators::operator`], [`operators::primitive`]), and what is found is a few pointers to
//! functions that are compiled here.

pub mod compact;
pub mod isa;
pub mod lanes;
pub mod operators;
pub mod primitive;
pub mod product;
pub mod stream;
