//! The way that a path leads, for whoever goes it name by name and looks at each.

use std::ffi::OsString;
use std::path::{Component, Path};

/// Links followed on the way to one path, as many as the kernel follows (path_resolution(7)).
pub const LINKS_MAX: usize = 40;

/// The names in a path, and its steps up (`..`), the last one first: the next one is taken from
/// the end, and the names of a link's target are put there.
#[must_use]
pub fn reversed(path: &Path) -> Vec<OsString> {
    let names = path.components().rev();
    let names = names.filter_map(|component| match component {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        Component::CurDir | Component::RootDir | Component::Prefix(_) => None,
    });
    names.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn way_of_a_path_has_its_names_and_its_steps_up() {
        let cases: [(&str, &[&str]); 5] = [
            ("/a/b", &["a", "b"]),
            ("a//b/./c/", &["a", "b", "c"]),
            ("/../a/../b", &["..", "a", "..", "b"]),
            ("/", &[]),
            ("", &[]),
        ];
        for (path, names) in cases {
            let mut way = reversed(Path::new(path));
            way.reverse();
            assert_eq!(way, names, "{path:?}");
        }
    }
}
