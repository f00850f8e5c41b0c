//! Credentials passed by the service manager (systemd.exec(5), LoadCredential=).

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::Path;

use openclaw_config::secret::Secret;

/// A key is short; a larger file is not one.
const SIZE_LIMIT: u64 = 64 * 1024;

/// The credentials in $CREDENTIALS_DIRECTORY by file name, without the line
/// break that editors leave. Empty when there is no such directory; files that
/// are too large or not text are left out.
pub fn inherit() -> BTreeMap<String, Secret> {
    env::var_os("CREDENTIALS_DIRECTORY")
        .map(|folder| read(Path::new(&folder)))
        .unwrap_or_default()
}

fn read(folder: &Path) -> BTreeMap<String, Secret> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .filter(|entry| entry.metadata().is_ok_and(|meta| meta.len() <= SIZE_LIMIT))
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let text = fs::read_to_string(entry.path()).ok()?;
            Some((name, Secret::new(text.trim_end_matches(['\n', '\r']))))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_read_by_name_without_the_line_break() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("anthropic-api-key"), "sk-1\n").unwrap();
        fs::write(folder.path().join("binary"), [0xff, 0xfe]).unwrap();
        let credentials = read(folder.path());
        assert_eq!(credentials.len(), 1);
        assert_eq!(credentials["anthropic-api-key"].reveal(), "sk-1");
    }
}
