//! Files of channels' tokens that are not there.

use std::path::Path;

use openclaw_config::key::KeyPath;
use openclaw_config::paths::Paths;
use serde_json::Value;

use super::accounts;

/// What names the file.
const KEY: &str = "tokenFile";

/// The keys of `document` that name a file for a token which nobody can read, each with
/// the reason. It may come, so that makes no file invalid.
pub fn absent_token_files(paths: &Paths, document: &Value) -> Vec<(KeyPath, String)> {
    let all = accounts(document).into_iter();
    let absent = all.filter_map(|account| {
        let why = absence(paths, account.text(KEY)?)?;
        Some((account.path.child(KEY), why))
    });
    absent.collect()
}

fn absence(paths: &Paths, file: &str) -> Option<String> {
    let file = file.trim();
    if file.is_empty() {
        return None;
    }
    let way = "openclawctl channels add telegram asks for a token and writes its file";
    let place = if file.starts_with("~/") {
        paths.expand(file)
    } else {
        Path::new(file).to_owned()
    };
    if place.is_relative() {
        return Some(format!(
            "is {file:?}, which is no whole path, so nobody finds it: begin it with / or ~/; {way}"
        ));
    }
    (!place.is_file()).then(|| {
        let shown = place.display();
        format!("names {shown}, and there is no such file, so nothing connects: {way}")
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn token_file_that_is_not_there_is_named_by_its_key() {
        let folder = tempfile::tempdir().unwrap();
        let there = folder.path().join("t");
        std::fs::write(&there, "1:a").unwrap();
        let home = folder.path().to_str().unwrap();
        let paths = Paths::resolve(&[("HOME", home)].into_iter().collect()).unwrap();
        let found = |telegram: Value| {
            let document = json!({"channels": {"telegram": telegram}});
            let found = absent_token_files(&paths, &document).into_iter();
            found
                .map(|(key, why)| format!("{key} {why}"))
                .collect::<Vec<_>>()
        };
        for fine in [
            json!(there),
            json!("~/t"),
            json!("${TOKEN_FILE}"),
            json!(""),
        ] {
            assert_eq!(found(json!({"tokenFile": fine})), [""; 0], "{fine}");
        }
        let relative = found(json!({"tokenFile": "t"}));
        let expected = "channels.telegram.tokenFile is \"t\", which is no whole path";
        assert!(relative[0].starts_with(expected), "{relative:?}");
        let account =
            found(json!({"tokenFile": "~/t", "accounts": {"work": {"tokenFile": "~/no"}}}));
        let expected = format!("channels.telegram.accounts.work.tokenFile names {home}/no,");
        assert_eq!(account.len(), 1, "{account:?}");
        assert!(account[0].starts_with(&expected), "{account:?}");
    }
}
