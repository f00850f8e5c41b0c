//! What the figures were measured on.

use std::fs;
use std::path::Path;

/// Lines about this machine; what cannot be found out is left out.
pub(crate) fn facts(folder: &Path) -> String {
    let mut facts = Vec::new();
    let cores = std::thread::available_parallelism();
    let processor = read("/proc/cpuinfo", |text| field(text, "model name", ':'));
    if let Ok(cores) = cores {
        let processor = processor
            .map(|name| format!(", {name}"))
            .unwrap_or_default();
        facts.push(format!("{cores} cores{processor}"));
    }
    let kernel = |text: &str| Some(format!("Linux {}", text.trim()));
    facts.extend(read("/proc/sys/kernel/osrelease", kernel));
    let load = |text: &str| Some(format!("load {}", words(text, 3)));
    facts.extend(read("/proc/loadavg", load));
    let memory = |text: &str| field(text, "MemTotal", ':').map(|total| format!("memory {total}"));
    facts.extend(read("/proc/meminfo", memory));
    let disk = read("/proc/self/mounts", |mounts| file_system(mounts, folder));
    facts.extend(disk.map(|kind| format!("state on {kind}")));
    let user = if nix::unistd::geteuid().is_root() {
        "as root: agents become another user and get a view of their own"
    } else {
        "as an ordinary user"
    };
    facts.push(user.to_owned());
    facts.join("; ") + "\n"
}

fn read(path: &str, find: impl Fn(&str) -> Option<String>) -> Option<String> {
    find(&fs::read_to_string(path).ok()?)
}

fn field(text: &str, name: &str, separator: char) -> Option<String> {
    let mut pairs = text.lines().filter_map(|line| line.split_once(separator));
    let (_, value) = pairs.find(|(key, _)| key.trim() == name)?;
    Some(value.trim().to_owned())
}

fn words(text: &str, count: usize) -> String {
    let words: Vec<&str> = text.split_whitespace().take(count).collect();
    words.join(" ")
}

/// The type of the file system that holds `path`: the longest mount point wins, the last of equals.
fn file_system(mounts: &str, path: &Path) -> Option<String> {
    let mounts = mounts.lines().filter_map(|line| {
        let mut fields = line.split(' ').skip(1);
        Some((Path::new(fields.next()?), fields.next()?))
    });
    mounts
        .filter(|(point, _)| path.starts_with(point))
        .max_by_key(|(point, _)| point.components().count())
        .map(|(_, kind)| kind.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closest_mount_point_is_taken() {
        let mounts =
            "/dev/a / ext4 rw 0 0\ntmpfs /var/tmp tmpfs rw 0 0\ntmpfs /var/t tmpfs rw 0 0\n";
        let kind = |path| file_system(mounts, Path::new(path)).unwrap();
        assert_eq!(kind("/var/tmp/x"), "tmpfs");
        assert_eq!(kind("/var/lib"), "ext4");
    }
}
