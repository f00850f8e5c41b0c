//! The program itself, as memory.

use std::ffi::c_void;
use std::fs;
use std::io;
use std::ops::Range;
use std::ptr::{NonNull, without_provenance_mut};

use nix::sys::mman::{MmapAdvise, madvise};

/// Gives the pages of this program's own file back to the kernel's cache, from
/// where each is mapped again when it is next used. Most of them were needed by
/// the start alone, or came in beside one that was.
///
/// Only what can be read again unchanged is given back: read-only mappings of
/// the executable without a page of their own (relocated data has some).
///
/// # Errors
/// /proc is not there, or madvise(2) refuses.
pub fn release() -> io::Result<()> {
    let program = fs::read_link("/proc/self/exe")?;
    let mappings = fs::read_to_string("/proc/self/smaps")?;
    for range in unchanged(&mappings, &program.to_string_lossy()) {
        let Some(start) = NonNull::new(without_provenance_mut::<c_void>(range.start)) else {
            continue;
        };
        // SAFETY: the range is a read-only private mapping of a file in which
        // no page differs from the file, and nothing makes it writable after
        // the start: each page reads the same when it comes back.
        unsafe { madvise(start, range.len(), MmapAdvise::MADV_DONTNEED) }?;
    }
    Ok(())
}

/// Gives back the pages of the heap in which nothing is any more: what a flood took
/// is otherwise kept for the next one.
pub fn release_heap() {
    // SAFETY: malloc_trim(3) may be called at any time by any thread, and touches no
    // memory that is in use.
    #[cfg(target_env = "gnu")]
    unsafe {
        nix::libc::malloc_trim(0)
    };
}

/// The read-only mappings of `program` in `smaps` (proc_pid_smaps(5)) that have
/// no page of their own.
fn unchanged(smaps: &str, program: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut current = None;
    for line in smaps.lines() {
        if let Some(mapping) = head(line) {
            let (range, permissions, path) = mapping;
            let ours = path == program && matches!(permissions, "r--p" | "r-xp");
            current = ours.then_some(range);
        } else if let Some(own) = line.strip_prefix("Anonymous:") {
            let range = current.take();
            if own.trim() == "0 kB" {
                found.extend(range);
            }
        }
    }
    found
}

/// The first line of a mapping: `start-end permissions offset device inode path`.
fn head(line: &str) -> Option<(Range<usize>, &str, &str)> {
    let (range, rest) = line.split_once(' ')?;
    let (start, end) = range.split_once('-')?;
    let start = usize::from_str_radix(start, 16).ok()?;
    let end = usize::from_str_radix(end, 16).ok()?;
    let mut fields = rest.splitn(5, ' ');
    let permissions = fields.next()?;
    let path = fields.nth(3).unwrap_or_default().trim_start();
    Some((start..end, permissions, path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_only_unchanged_parts_of_the_program_are_given_back() {
        let smaps = "\
1000-2000 r--p 00000000 fe:00 12    /opt/a b/program\n\
Rss:  4 kB\nAnonymous:         0 kB\nVmFlags: rd mr\n\
2000-3000 r-xp 00001000 fe:00 12    /opt/a b/program\nAnonymous: 0 kB\n\
3000-4000 r--p 00002000 fe:00 12    /opt/a b/program\nAnonymous:         4 kB\n\
4000-5000 rw-p 00003000 fe:00 12    /opt/a b/program\nAnonymous: 0 kB\n\
5000-6000 r-xp 00000000 fe:00 13    /lib/libc.so.6\nAnonymous: 0 kB\n\
6000-7000 rw-p 00000000 00:00 0 \nAnonymous: 0 kB\n\
7000-8000 r--s 00000000 fe:00 12    /opt/a b/program\nAnonymous: 0 kB\n";
        assert_eq!(
            unchanged(smaps, "/opt/a b/program"),
            [0x1000..0x2000, 0x2000..0x3000]
        );
    }

    #[test]
    fn program_goes_on_without_its_pages() {
        let before = resident();
        release().unwrap();
        let after = resident();
        assert!(after < before, "{after} kB of {before} kB are left");
    }

    /// What of this program is mapped, in kB.
    fn resident() -> usize {
        let program = fs::read_link("/proc/self/exe").unwrap();
        let program = program.to_str().unwrap();
        let smaps = fs::read_to_string("/proc/self/smaps").unwrap();
        let mut ours = false;
        let mut total = 0;
        for line in smaps.lines() {
            if let Some((_, _, path)) = head(line) {
                ours = path == program;
            } else if let Some(size) = line.strip_prefix("Rss:")
                && ours
            {
                total += size
                    .trim()
                    .trim_end_matches(" kB")
                    .parse::<usize>()
                    .unwrap();
            }
        }
        total
    }
}
