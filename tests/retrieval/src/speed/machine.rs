//! What the kernel says of this machine and this process.

use std::fs;

/// The processor and the kernel.
pub(crate) fn facts() -> String {
    let processor = line("/proc/cpuinfo", "model name").unwrap_or_default();
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    format!(
        "{}; Linux {}",
        processor.trim_start_matches([':', ' ', '\t']),
        kernel.trim()
    )
}

/// The most memory this process had, in bytes; since [`forget_peak`] where the
/// kernel allows that.
pub(crate) fn peak() -> u64 {
    kilobytes("/proc/self/status", "VmHWM:")
}

/// Begins anew with [`peak`] (proc(5), clear_refs).
pub(crate) fn forget_peak() {
    // Without the right to it the peak of what was before counts too.
    let _ = fs::write("/proc/self/clear_refs", "5");
}

/// The processor time of this thread, in milliseconds (proc(5), schedstat):
/// what a search would take if nothing else ran.
pub(crate) fn processor_ms() -> f64 {
    let text = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let time = text
        .split_whitespace()
        .next()
        .and_then(|time| time.parse::<f64>().ok());
    time.unwrap_or_default() / 1e6
}

/// The memory this process has now (PSS), in bytes.
pub(crate) fn proportional() -> u64 {
    kilobytes("/proc/self/smaps_rollup", "Pss:")
}

fn kilobytes(path: &str, name: &str) -> u64 {
    let value = line(path, name).unwrap_or_default();
    let number = value
        .split_whitespace()
        .next()
        .and_then(|text| text.parse::<u64>().ok());
    number.unwrap_or_default() * 1024
}

fn line(path: &str, name: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    Some(line.to_owned())
}
