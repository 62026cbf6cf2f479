//! Whether the program that started the kernel still lives. A kernel whose server was killed would
//! otherwise stay for ever.

use std::time::Duration;

/// How often to look.
const PERIOD: Duration = Duration::from_millis(500);

/// Ends when the parent is gone. Never, if nobody said who the parent is (`JPY_PARENT_PID`), or on
/// systems where one cannot look.
pub(crate) async fn wait() {
    let parent = std::env::var("JPY_PARENT_PID").ok().and_then(|id| id.parse::<u32>().ok());
    #[cfg(unix)]
    if let Some(parent) = parent.filter(|parent| *parent > 1) {
        // The parent may be a wrapper around the kernel: a change is what counts.
        let first = std::os::unix::process::parent_id();
        loop {
            tokio::time::sleep(PERIOD).await;
            if std::os::unix::process::parent_id() != first || is_gone(parent) {
                return;
            }
        }
    }
    let _ = parent;
    std::future::pending().await
}

/// Whether no process has that id, as far as the system lists them in files.
#[cfg(unix)]
fn is_gone(id: u32) -> bool {
    let processes = std::path::Path::new("/proc");
    processes.join("self").exists() && !processes.join(id.to_string()).exists()
}
