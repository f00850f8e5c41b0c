//! find(1), whose arguments are names of folders and an expression.

use super::super::command::Word;
use super::is_settled;

/// Parts of an expression that stand alone, and options.
pub(super) const ALONE: [&str; 30] = [
    "-H",
    "-L",
    "-P",
    "-a",
    "-and",
    "-daystart",
    "-depth",
    "-empty",
    "-executable",
    "-false",
    "-follow",
    "-help",
    "-ls",
    "-mount",
    "-nogroup",
    "-noleaf",
    "-not",
    "-nouser",
    "-nowarn",
    "-o",
    "-or",
    "-print",
    "-print0",
    "-prune",
    "-quit",
    "-readable",
    "-true",
    "-warn",
    "-writable",
    "-xdev",
];

/// Parts of an expression that take the next word.
pub(super) const WITH_VALUE: [&str; 36] = [
    "-amin",
    "-anewer",
    "-atime",
    "-cmin",
    "-cnewer",
    "-ctime",
    "-fstype",
    "-gid",
    "-group",
    "-ilname",
    "-iname",
    "-inum",
    "-ipath",
    "-iregex",
    "-iwholename",
    "-links",
    "-lname",
    "-maxdepth",
    "-mindepth",
    "-mmin",
    "-mtime",
    "-name",
    "-newer",
    "-path",
    "-perm",
    "-printf",
    "-regex",
    "-regextype",
    "-samefile",
    "-size",
    "-type",
    "-uid",
    "-used",
    "-user",
    "-wholename",
    "-xtype",
];

/// The first word with which find may do more than read.
pub(super) fn refused(words: &[Word]) -> Option<&Word> {
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        let is_fine = match word.text.as_str() {
            part if !part.starts_with('-') => is_settled(word),
            _ if word.is_pattern => false,
            part if ALONE.contains(&part) => true,
            part if takes_value(part) => rest.next().is_some_and(is_settled),
            _ => false,
        };
        if !is_fine {
            return Some(word);
        }
    }
    None
}

fn takes_value(part: &str) -> bool {
    WITH_VALUE.contains(&part) || is_newer(part)
}

/// `-newerXY`.
fn is_newer(part: &str) -> bool {
    let kinds = part.strip_prefix("-newer").map(str::as_bytes);
    matches!(
        kinds,
        Some([b'a' | b'B' | b'c' | b'm', b'a' | b'B' | b'c' | b'm' | b't'])
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_sorted() {
        assert!(ALONE.is_sorted() && WITH_VALUE.is_sorted());
    }
}
