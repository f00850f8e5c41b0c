//! What git takes for a repository, whatever the folder is called (gitrepository-layout(5)).

/// What one always has.
pub const HEAD: &str = "HEAD";
/// What else one has,
pub const PARTS: [&str; 2] = ["objects", "refs"];
/// or says where they are, and its configuration.
pub const ELSEWHERE: &str = "commondir";

/// Whether git takes a folder that `has` these names for a repository. It obeys what the
/// configuration of one names (fsmonitor, filters, hooks), for whoever calls it there.
pub fn is_repository(has: impl Fn(&str) -> bool) -> bool {
    has(HEAD) && (has(ELSEWHERE) || PARTS.into_iter().all(has))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repository_has_its_parts_or_says_where_they_are() {
        let is = |names: &[&str]| is_repository(|name| names.contains(&name));
        assert!(is(&["HEAD", "objects", "refs", "more"]));
        assert!(is(&["HEAD", "commondir"]));
        for names in [
            &["HEAD"][..],
            &["HEAD", "objects"],
            &["HEAD", "refs"],
            &["objects", "refs", "commondir"],
        ] {
            assert!(!is(names), "{names:?}");
        }
    }
}
