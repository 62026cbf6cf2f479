//! The session as its users see it: cells in, events out.

mod cells;
mod commands;
mod compiled;
mod decompositions;
mod joined;
mod mapped;
mod matrices;
mod messages;
mod native;
mod numbers;
mod progress;
mod saving;
mod sequences;
mod signals;
mod transcript;
mod truth;
mod words;
