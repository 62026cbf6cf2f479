//! The interpreter on source text: what programs yield, and which errors they end in.

mod builtins_make;
mod builtins_move;
mod builtins_order;
mod builtins_reduce;
mod demand;
mod documented;
mod expressions;
mod functions;
mod hostile;
mod implicit_map;
mod limits;
mod neighbourhood;
mod source;
