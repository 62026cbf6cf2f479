//! Fusion: plans mean what the programs of *flat* mean that they come from, and have as few kernels
//! and arrays as they should.

mod counts;
mod depth;
mod in_place;
mod interleave;
mod random;
mod suite;
mod twins;

use weft_passes::fuse::{FuseConfig, Solver};

const ILP: FuseConfig = FuseConfig { fusion: true, solver: weft_passes::pipeline::SOLVER };
const GREEDY: FuseConfig = FuseConfig { fusion: true, solver: Solver::Greedy };
const OFF: FuseConfig = FuseConfig { fusion: false, solver: Solver::Greedy };
