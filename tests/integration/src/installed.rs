//! What was installed for a test from elsewhere.

use std::path::{Path, PathBuf};

/// The folder of `what`: the one that `variable` names, or `target/NAME`, where
/// tests/run installs it; it has `file` in it. `None` where the tests were told to
/// do without.
pub fn folder(what: &str, variable: &str, name: &str, file: &str) -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = match std::env::var(variable).unwrap_or_default().as_str() {
        "skip" => {
            crate::skipped(&format!("{what}: {variable} is skip"));
            return None;
        }
        "" => root.join("target").join(name),
        named => PathBuf::from(named),
    };
    let path = folder.join(file);
    assert!(
        path.exists(),
        "{} is not there: run tests/run, which installs it, or set {variable} to its folder, or \
         to `skip` to do without {what}",
        path.display()
    );
    Some(folder.canonicalize().expect("the folder is there"))
}
