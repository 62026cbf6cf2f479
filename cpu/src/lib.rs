//! Runs plans on host threads.
