//! Which commands can be allowed for good: those that their words settle. What any other
//! does is also said by files (a script, the folder's build file, the settings of a program),
//! which the agent can change unasked after it was allowed.
//!
//! Rejected: a sum of the script that is run. What the script calls in turn, and what its
//! interpreter takes from the folder, would still be whatever the agent makes of it.

use std::path::Path;

use serde_json::Value;

use super::command::{Word, Words, parse};
use super::{list, reading, target};

/// What changes where the other words of a line lead.
const CHANGES_FOLDER: &str = "cd";
/// Characters of a word that are shown.
const NAME: usize = 64;

/// Why `command` can be allowed one time only, when it runs in `directory`: its words do not
/// settle what it does there. `None`: they do.
#[must_use]
pub fn only_once(command: &Value, directory: &Path) -> Option<String> {
    let commands = match command {
        Value::String(line) => parse(line).map_err(|why| why.to_string()),
        Value::Array(words) => list(words).map(|words| vec![words]),
        _ => Err("it is no command".to_owned()),
    };
    match commands {
        Ok(commands) => commands.iter().find_map(|words| of_words(words, directory)),
        Err(why) => Some(format!("what it does is not settled by its words: {why}")),
    }
}

fn of_words(words: &Words, directory: &Path) -> Option<String> {
    let name = words.first().map_or("", |name| name.text.as_str());
    let shown: String = name.chars().take(NAME).collect();
    if name == CHANGES_FOLDER {
        return Some("it changes the folder that it runs in".to_owned());
    }
    reading::refuses(words)?;
    if reading::does_more_than_its_words(words) {
        return Some(format!(
            "what {shown:?} does is said by files too, which the agent can change unasked; \
             tools.exec.allowlist names what may run whatever they say"
        ));
    }
    let leads_elsewhere = |word: &&Word| !leads_straight(&directory.join(&word.text));
    let word = words.iter().skip(1).find(leads_elsewhere)?;
    let shown: String = word.text.chars().take(NAME).collect();
    Some(format!("{shown:?} leads elsewhere, by a link"))
}

/// Whether `path` leads where it says, through no link: the agent could make it another.
fn leads_straight(path: &Path) -> bool {
    target::resolve(path).is_ok_and(|reached| reached == target::without_dots(path))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use serde_json::json;

    use super::*;

    fn is_settled(command: Value) -> bool {
        only_once(&command, Path::new("/nowhere/ws")).is_none()
    }

    #[test]
    fn settled_what_words_settle_can_be_allowed_for_good() {
        for line in [
            "touch a",
            "touch a; ls | wc -l",
            "rm -rf 'a b' c && mkdir -p d/e",
            "rmdir -p a",
            "mkdir -m 700 a",
        ] {
            assert!(is_settled(json!(line)), "{line}");
        }
        assert!(is_settled(json!(["rm", "-r", "*"])));
    }

    #[test]
    fn settled_what_files_say_can_be_allowed_once_only() {
        for line in [
            "sh build.sh",
            "./build.sh",
            "touch a; . ./build.sh",
            "cat build.sh | sh",
            "sh < build.sh",
            "sh -c 'touch a'",
            "env touch a",
            "make",
            "npm test",
            "cargo test",
            "just",
            "pytest",
            "python3 x.py",
            "git status",
            "curl https://example.org",
            "cp a b",
            "ln -s a b",
            "chmod +x a",
            "/bin/rm a",
            "cd sub && touch a",
            "rm *.o",
            "touch \"$HOME/a\"",
            "touch -r b a",
            "touch a\nsh build.sh",
            "A=b touch a",
        ] {
            assert!(!is_settled(json!(line)), "{line}");
        }
        assert!(!is_settled(json!(["make"])));
        assert!(!is_settled(json!([])));
        assert!(!is_settled(json!({})));
        let why = only_once(&json!("npm test"), Path::new("/ws")).unwrap();
        assert!(
            why.contains("\"npm\"") && why.contains("tools.exec.allowlist"),
            "{why}"
        );
    }

    #[test]
    fn settled_what_leads_through_a_link_can_be_allowed_once_only() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("ws/sub")).unwrap();
        fs::create_dir(root.join("out")).unwrap();
        symlink("../out", root.join("ws/link")).unwrap();
        let is_settled = |line: &str| only_once(&json!(line), &root.join("ws")).is_none();
        for line in [
            "rm -rf sub/x",
            "touch sub/../a",
            "rm ../out/x",
            "ls link; touch a",
        ] {
            assert!(is_settled(line), "{line}");
        }
        for line in [
            "rm -rf link/x",
            "touch link",
            "touch link/../a",
            "rm a; mkdir link/y",
        ] {
            assert!(!is_settled(line), "{line}");
        }
        fs::remove_dir(root.join("ws/sub")).unwrap();
        symlink("../out", root.join("ws/sub")).unwrap();
        assert!(!is_settled("rm -rf sub/x"));
    }
}
