//! Long texts, a screen at a time.

use std::env;
use std::io::Write as _;
use std::process::{Command, Stdio};

/// Shows a text with `$WEFT_PAGER`, `$PAGER` or `less`. `false` if there is none, or if it is
/// switched off by an empty name: the text is then still to be shown.
pub(crate) fn page(text: &str) -> bool {
    let chosen = env::var("WEFT_PAGER").or_else(|_| env::var("PAGER"));
    let pager = chosen.unwrap_or_else(|_| "less".to_owned());
    if pager.trim().is_empty() {
        return false;
    }
    let mut command = Command::new("sh");
    // It may come with arguments of its own.
    command.arg("-c").arg(&pager).stdin(Stdio::piped());
    if env::var_os("LESS").is_none() {
        // Colours pass, the text stays on the screen, and nothing waits where all of it fits.
        command.env("LESS", "FRX");
    }
    let Ok(mut child) = command.spawn() else { return false };
    if let Some(mut input) = child.stdin.take() {
        // Whoever leaves the pager early has seen enough.
        let _ = input.write_all(text.as_bytes());
    }
    // 127 is how a shell says that there is no such program.
    child.wait().is_ok_and(|status| status.code() != Some(127))
}
