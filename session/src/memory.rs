//! How much memory a run may take by default.

use std::fs;
use std::path::{Component, Path, PathBuf};
use std::thread;

use crate::stack::LEAST;

/// Address space that the allocator takes for a thread before anything is allocated there.
const ARENA: u64 = 64 << 20;

/// Bytes for the arrays of a run: three quarters of what is free, as far as the system tells, in the
/// machine, in the control groups that the process is in, and in the address space that it may have.
/// 4 GiB where it does not.
pub fn default_limit() -> u64 {
    let read = |path: &Path| fs::read_to_string(path).ok();
    let free = [machine(&read), control_groups(&read), free_address_space(&read)];
    free.into_iter().flatten().min().map_or(4 << 30, |bytes| bytes / 4 * 3)
}

/// The most bytes of address space that the process may have, if there is a limit (`ulimit -v`).
pub(crate) fn address_space() -> Option<u64> {
    address_space_of(&fs::read_to_string("/proc/self/limits").ok()?)
}

/// The text of a file, if it can be read.
type Read<'a> = &'a dyn Fn(&Path) -> Option<String>;

fn machine(read: Read<'_>) -> Option<u64> {
    kilobytes(&read(Path::new("/proc/meminfo"))?, "MemAvailable:")
}

fn free_address_space(read: Read<'_>) -> Option<u64> {
    let most = address_space_of(&read(Path::new("/proc/self/limits"))?)?;
    let taken = kilobytes(&read(Path::new("/proc/self/status"))?, "VmSize:")?;
    let left = most.saturating_sub(taken);
    // A cell runs on a stack of its own; where there is no room for it, on a smaller one.
    let stack = weft_lang::STACK_BYTES as u64;
    let stack = if left > stack { stack } else { LEAST as u64 };
    let threads = thread::available_parallelism().map_or(1, |threads| threads.get() as u64) + 2;
    Some(left.saturating_sub(stack).saturating_sub(threads.saturating_mul(ARENA)))
}

/// The bytes of a line `Max address space  SOFT  HARD  bytes`; nothing if they are unlimited.
fn address_space_of(limits: &str) -> Option<u64> {
    let line = limits.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    line.split_whitespace().next()?.parse().ok()
}

/// The bytes of a line `NAME  1234 kB`.
fn kilobytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// What is free in that control group of the process, or of those around it, in which the least is.
fn control_groups(read: Read<'_>) -> Option<u64> {
    // Within a container that says nothing of groups, its own is where the root would be.
    let groups = read(Path::new("/proc/self/cgroup")).unwrap_or_else(|| "0::/".to_owned());
    let least = groups.lines().filter_map(|line| {
        let (controllers, path) = line.split_once(':')?.1.split_once(':')?;
        let (root, files) = match controllers {
            "" => ("/sys/fs/cgroup", &UNIFIED),
            _ if controllers.split(',').any(|name| name == "memory") => {
                ("/sys/fs/cgroup/memory", &SEPARATE)
            }
            _ => return None,
        };
        // What lies outside of the container begins with `..`, and is not to be seen.
        let names =
            Path::new(path).components().filter(|name| matches!(name, Component::Normal(_)));
        let folder: PathBuf = [Component::RootDir].into_iter().chain(names).collect();
        let folder = folder.strip_prefix("/").unwrap_or(&folder);
        let around = folder.ancestors().map(|folder| Path::new(root).join(folder));
        around.filter_map(|folder| files.free(&folder, read)).min()
    });
    least.min()
}

/// The files of a control group that tell of memory.
struct Files {
    limit: &'static str,
    used: &'static str,
    /// What the file `memory.stat` calls pages of files that can go at any time.
    spare: &'static str,
}

/// Of version 2.
const UNIFIED: Files =
    Files { limit: "memory.max", used: "memory.current", spare: "inactive_file" };

/// Of version 1, in which every controller has a hierarchy of its own.
const SEPARATE: Files = Files {
    limit: "memory.limit_in_bytes",
    used: "memory.usage_in_bytes",
    spare: "total_inactive_file",
};

impl Files {
    /// What is free in a group, if it has a limit.
    fn free(&self, folder: &Path, read: Read<'_>) -> Option<u64> {
        let number = |file: &str| read(&folder.join(file))?.trim().parse::<u64>().ok();
        let limit = number(self.limit)?;
        let used = number(self.used).unwrap_or(0);
        let stat = read(&folder.join("memory.stat")).unwrap_or_default();
        let spare = stat.lines().find_map(|line| match line.split_once(' ') {
            Some((name, bytes)) if name == self.spare => bytes.trim().parse().ok(),
            Some(_) | None => None,
        });
        Some(limit.saturating_sub(used.saturating_sub(spare.unwrap_or(0))))
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{address_space_of, control_groups, free_address_space};

    /// What is free where the system consists of these files.
    fn of_files(files: &[(&str, &str)], what: fn(super::Read<'_>) -> Option<u64>) -> Option<u64> {
        what(&|path: &Path| {
            let found = files.iter().find(|(name, _)| Path::new(name) == path);
            found.map(|(_, text)| (*text).to_owned())
        })
    }

    #[test]
    fn address_space_is_what_the_system_says() {
        let limits = |soft: &str| {
            format!(
                "Limit  Soft Limit  Hard Limit  Units\nMax address space  {soft}  unlimited  bytes\n"
            )
        };
        assert_eq!(address_space_of(&limits("1500000000")), Some(1_500_000_000));
        assert_eq!(address_space_of(&limits("unlimited")), None);
        assert_eq!(address_space_of(""), None);
        let free = |soft: &str, taken: &str| {
            let limits = limits(soft);
            let files = [("/proc/self/limits", &*limits), ("/proc/self/status", taken)];
            of_files(&files, free_address_space)
        };
        assert_eq!(free("unlimited", "VmSize:\t  1024 kB\n"), None);
        assert_eq!(free("100000", "Name:\tweft\nVmSize:\t  1024 kB\n"), Some(0));
        let (small, large) = (free("1000000000000", "VmSize: 1000000 kB"), 999 * 1_000_000_000);
        assert!(small.is_some_and(|free| free > large / 2 && free < large), "{small:?}");
    }

    #[test]
    fn the_least_of_the_groups_around_counts() {
        let groups = ("/proc/self/cgroup", "0::/user.slice/weft.scope\n");
        let outer = ("/sys/fs/cgroup/user.slice/memory.max", "3000\n");
        let inner = ("/sys/fs/cgroup/user.slice/weft.scope/memory.max", "2000\n");
        let unlimited = ("/sys/fs/cgroup/user.slice/weft.scope/memory.max", "max\n");
        let used = ("/sys/fs/cgroup/user.slice/memory.current", "2500\n");
        let spare = ("/sys/fs/cgroup/user.slice/memory.stat", "anon 9\ninactive_file 1000\n");
        let root = ("/sys/fs/cgroup/memory.max", "400\n");
        for (files, free) in [
            (&[groups][..], None),
            (&[groups, inner], Some(2000)),
            (&[groups, unlimited], None),
            (&[groups, unlimited, outer], Some(3000)),
            (&[groups, inner, outer], Some(2000)),
            (&[groups, inner, outer, used], Some(500)),
            (&[groups, inner, outer, used, spare], Some(1500)),
            (&[groups, inner, root], Some(400)),
            (&[root], Some(400)),
            (&[("/proc/self/cgroup", "0::/../..\n"), root], Some(400)),
        ] {
            assert_eq!(of_files(files, control_groups), free, "{files:?}");
        }
    }

    #[test]
    fn groups_of_the_first_version_are_known() {
        let groups = (
            "/proc/self/cgroup",
            "12:cpu,cpuacct:/other\n5:memory:/docker/weft\n0::/docker/weft\n",
        );
        let limit = ("/sys/fs/cgroup/memory/docker/weft/memory.limit_in_bytes", "5000\n");
        let used = ("/sys/fs/cgroup/memory/docker/weft/memory.usage_in_bytes", "1000\n");
        let other = ("/sys/fs/cgroup/memory/other/memory.limit_in_bytes", "1\n");
        let own = ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "3000\n");
        for (files, free) in [
            (&[groups, other][..], None),
            (&[groups, other, limit, used], Some(4000)),
            (&[groups, other, limit, used, own], Some(3000)),
            // Within a container the group of the process is where the root would be.
            (&[groups, own], Some(3000)),
        ] {
            assert_eq!(of_files(files, control_groups), free, "{files:?}");
        }
    }
}
