//! Entry points of the fuzz targets in `tests/fuzz`: each takes what comes in
//! at a boundary, and asserts what has to hold whatever that is. Built for
//! fuzzing alone; what they look into stays private.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::LazyLock;

use tempfile::TempDir;

use super::*;

/// Bytes of a button's data: `say:` and a label.
const DATA: usize = 4 + 4 * crate::decision::LABEL;

/// A workspace with two files, and what an agent may leave beside them.
static WORKSPACE: LazyLock<TempDir> = LazyLock::new(|| {
    let root = tempfile::tempdir().expect("a temporary folder");
    let workspace = root.path().join("w");
    std::fs::create_dir_all(workspace.join("s")).expect("a folder");
    for name in ["secret", "w/a.png", "w/s/b.ogg"] {
        std::fs::write(root.path().join(name), "1").expect("a file");
    }
    for (target, name) in [("../secret", "l"), ("..", "u"), ("/etc/passwd", "p")] {
        symlink(target, workspace.join(name)).expect("a link");
    }
    root
});

/// The reply of an agent: no button of its own decides or hides what it says, and no file
/// is named but those of the workspace.
pub fn reply(text: &str) {
    let asked = asked_for(text);
    for button in asked.buttons.iter().flatten() {
        assert!(button.data.len() <= DATA && button.url.is_empty());
        assert_eq!(decision_of(&button.data), None, "{button:?}");
        assert_eq!(said_by(&button.data), Some(button.text.as_str()));
    }
    let workspace = WORKSPACE.path().join("w").into();
    let taken = with_files(&asked.text, Some(&workspace));
    assert_eq!(taken.paths.len(), taken.files.len());
    for path in &taken.paths {
        let known = ["a.png", "s/b.ogg"].map(Path::new);
        assert!(known.contains(&Path::new(path)), "{path}");
    }
}
