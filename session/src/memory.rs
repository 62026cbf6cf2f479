//! How much memory a run may take by default.

use std::fs;

/// Bytes for the arrays of a run: three quarters of what is free, as far as the system tells, both
/// the machine and the control group that the process is in. 4 GiB where it does not.
pub fn default_limit() -> u64 {
    let free = [machine(), control_group()].into_iter().flatten().min();
    free.map_or(4 << 30, |bytes| bytes / 4 * 3)
}

fn machine() -> Option<u64> {
    let info = fs::read_to_string("/proc/meminfo").ok()?;
    let line = info.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kilobytes.checked_mul(1024)
}

fn control_group() -> Option<u64> {
    let read = |file: &str| -> Option<u64> {
        fs::read_to_string(format!("/sys/fs/cgroup/{file}")).ok()?.trim().parse().ok()
    };
    Some(read("memory.max")?.saturating_sub(read("memory.current").unwrap_or(0)))
}
