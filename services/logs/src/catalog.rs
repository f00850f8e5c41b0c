//! What the notable events mean: the catalog that `journalctl -x` reads where the
//! installation could give it to systemd.

use crate::record::Record;

/// The catalog as it is shipped.
const CATALOG: &str = include_str!("../../../packaging/openclaw.catalog");

/// The explanation of the event with this MESSAGE_ID: its subject line and words.
pub(crate) fn explanation(message_id: &str) -> Option<Vec<&'static str>> {
    let (_, entry) = CATALOG.split_once(&format!("-- {message_id}\n"))?;
    let entry = entry.split("\n-- ").next().unwrap_or(entry);
    let (_, words) = entry.split_once("\n\n")?;
    Some(words.trim_end().lines().collect())
}

/// A line with the record's fields in the place of `@FIELD@`, as journalctl does it.
pub(crate) fn filled(line: &str, record: &Record) -> String {
    let mut parts = line.split('@');
    let mut text = parts.next().unwrap_or_default().to_owned();
    while let Some(name) = parts.next() {
        match record.field(&name.to_lowercase()) {
            Some(value) => text.push_str(value),
            None => text.push_str(&name.to_lowercase().replace("openclaw_", "")),
        }
        text.push_str(parts.next().unwrap_or_default());
    }
    text
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    use super::*;

    /// The MESSAGE_IDs in the sources of a folder: words of 32 hexadecimal digits in
    /// quotes, of constants.
    fn ids(folder: &Path, found: &mut BTreeSet<String>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            if path.is_dir() {
                if name != "tests" {
                    ids(&path, found);
                }
            } else if name.ends_with(".rs") && name != "tests.rs" {
                let text = fs::read_to_string(&path).unwrap();
                let product = text.split("#[cfg(test)]").next().unwrap();
                for line in product.lines().filter(|line| line.contains("const ")) {
                    let is_id = |word: &&str| {
                        word.len() == 32 && word.bytes().all(|it| it.is_ascii_hexdigit())
                    };
                    found.extend(line.split('"').filter(is_id).map(str::to_owned));
                }
            }
        }
    }

    #[test]
    fn explanation_names_what_the_record_is_about() {
        let line = r#"{"timestamp":"2023-11-14T22:13:20Z","level":"info","message":"x",
            "context":{"openclaw_run":"r1"}}"#;
        let record = Record::of_line(line).unwrap();
        let text = filled("logs --run @OPENCLAW_RUN@ of @OPENCLAW_TOOL@.", &record);
        assert_eq!(text, "logs --run r1 of tool.");
    }

    #[test]
    fn catalog_has_the_ids_of_the_code_and_no_others() {
        let services = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let mut used = BTreeSet::new();
        ids(services, &mut used);
        let lines = CATALOG.lines().filter_map(|line| line.strip_prefix("-- "));
        let explained: BTreeSet<String> = lines.map(str::to_owned).collect();
        assert!(used.len() > 10, "{used:?}");
        assert_eq!(used, explained);
        for id in &explained {
            let words = explanation(id).unwrap();
            assert!(!words.is_empty(), "{id}");
        }
    }
}
