//! `weft jupyter doctor`: starts the kernel as Jupyter does, and asks it what notebooks ask.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::client::{Channel, Client, free_connection};
use crate::extension;
use crate::kernelspec::{self, Place, data};

const PATIENCE: Duration = Duration::from_secs(20);

/// Checks the kernel that `program jupyter kernel` starts. One line a check; whether all are well.
pub(crate) fn examine(program: &Path, say: &mut dyn FnMut(&str)) -> bool {
    match check(program, say) {
        Ok(()) => {
            report_installed(program, say);
            say("all is well");
            true
        }
        Err(problem) => {
            say(&format!("FAILED  {problem}"));
            false
        }
    }
}

/// Says where Jupyter finds the kernel, and what is odd about it. None of this keeps the kernel from
/// working.
fn report_installed(program: &Path, say: &mut dyn FnMut(&str)) {
    let mut places: Vec<PathBuf> =
        [Place::User, Place::Environment].iter().filter_map(|place| data(place).ok()).collect();
    places.dedup();
    let mut found_any = false;
    for data in places {
        let kernels = kernelspec::installed(&data);
        found_any |= !kernels.is_empty();
        for (folder, starts) in &kernels {
            let folder = folder.display();
            match () {
                () if starts == program => say(&format!("ok      Jupyter finds it in {folder}")),
                () if starts.exists() => {
                    let starts = starts.display();
                    say(&format!("note    {folder} starts another program, {starts}"));
                }
                () => {
                    say(&format!("note    {folder} starts a program that is gone: install again"))
                }
            }
        }
        let extension = extension::folder(&data);
        match () {
            () if kernels.is_empty() => {}
            () if extension::is_current(&data) => {
                say(&format!("ok      JupyterLab colours its cells, {}", extension.display()));
            }
            () => say("note    the colours for JupyterLab are missing or old: install again"),
        }
    }
    if !found_any {
        say("note    Jupyter does not know it yet: `weft jupyter install`");
    }
}

/// A child that does not outlive the examination.
struct Kernel(Child);

impl Drop for Kernel {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn check(program: &Path, say: &mut dyn FnMut(&str)) -> Result<(), String> {
    let connection = free_connection()?;
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let file = folder.path().join("connection.json");
    let text = serde_json::to_string(&connection).map_err(|error| error.to_string())?;
    std::fs::write(&file, text).map_err(|error| error.to_string())?;
    let started = Instant::now();
    let child = Command::new(program)
        .args(["jupyter", "kernel", "-f"])
        .arg(&file)
        .env("WEFT_KERNEL_HISTORY", "")
        .stdin(Stdio::null())
        .spawn()
        .map_err(|error| format!("cannot start {}: {error}", program.display()))?;
    let mut kernel = Kernel(child);
    let mut client = Client::connect(&connection, PATIENCE)?;
    say(&format!("ok      the kernel starts and listens ({} ms)", started.elapsed().as_millis()));

    if !client.beats(PATIENCE) {
        return Err("its heart does not beat".to_owned());
    }
    say("ok      its heart beats");

    let id = client.request(Channel::Shell, "kernel_info_request", json!({}));
    let reply = client.reply(Channel::Shell, &id, PATIENCE)?;
    let version = reply.text("implementation_version");
    say(&format!("ok      it is Weft {version}, protocol {}", reply.text("protocol_version")));

    let asked = Instant::now();
    let id = client.request(Channel::Shell, "execute_request", json!({"code": "sum (iota 10)"}));
    let reply = client.reply(Channel::Shell, &id, PATIENCE)?;
    let time = asked.elapsed();
    let published = client.published(&id, PATIENCE)?;
    let result = published.iter().find(|message| message.kind() == "execute_result");
    let result = result.map(|message| message.content["data"]["text/plain"].clone());
    if reply.text("status") != "ok" || result != Some(json!("45")) {
        return Err(format!("`sum (iota 10)` gave {result:?}, status {}", reply.text("status")));
    }
    say(&format!("ok      it runs a cell ({:.1} ms there and back)", time.as_secs_f64() * 1e3));

    let id = client.request(Channel::Shell, "execute_request", json!({"code": "first (iota 0)"}));
    let reply = client.reply(Channel::Shell, &id, PATIENCE)?;
    if reply.text("status") != "error" || reply.text("ename").is_empty() {
        return Err("an error in a cell does not come back as one".to_owned());
    }
    say("ok      it reports an error in a cell");

    let id = client.request(Channel::Control, "shutdown_request", json!({"restart": false}));
    client.reply(Channel::Control, &id, PATIENCE)?;
    let end = Instant::now() + PATIENCE;
    while kernel.0.try_wait().map_err(|error| error.to_string())?.is_none() {
        if Instant::now() > end {
            return Err("it answers the shutdown, but stays".to_owned());
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    say("ok      it shuts down when told to");
    Ok(())
}
