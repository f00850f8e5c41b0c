//! Whether a name is meant: fuzzy and whatever its case.

/// Shortest name, in letters and digits, for which one that is written a little
/// differently counts too; in shorter ones one letter is a different name.
const FUZZY_FROM: usize = 5;

/// Names from this length on may differ in two letters.
const FUZZY_TWICE: usize = 9;

/// A project's name to look for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Project {
    /// As it was given, lowercase.
    phrase: String,
    /// Letters and digits only.
    plain: String,
    /// Its words, letters and digits only.
    words: Vec<String>,
}

impl Project {
    /// The project that `name` means; None when it has neither letter nor digit.
    pub fn named(name: &str) -> Option<Self> {
        let phrase = name.trim().to_lowercase();
        let plain = plain(&phrase);
        let words = phrase.split(|c: char| !c.is_alphanumeric());
        let words = words.filter(|word| !word.is_empty()).map(str::to_owned);
        let words = words.collect();
        (!plain.is_empty()).then_some(Self {
            words,
            plain,
            phrase,
        })
    }

    /// How well a folder's path matches, the more the better.
    pub fn in_path(&self, path: &str) -> Option<u32> {
        let lower = path.to_lowercase();
        let parts: Vec<String> = lower
            .split(['/', '\\'])
            .map(plain)
            .filter(|part| !part.is_empty())
            .collect();
        let any = |test: &dyn Fn(&str) -> bool| parts.iter().any(|part| test(part));
        if any(&|part| part == self.plain) {
            Some(100)
        } else if any(&|part| part.starts_with(&self.plain)) {
            Some(90)
        } else if any(&|part| part.contains(&self.plain)) {
            Some(80)
        } else if self
            .words
            .iter()
            .all(|word| any(&|part| part.contains(word)))
        {
            Some(70)
        } else if any(&|part| self.is_near(part)) {
            Some(60)
        } else {
            None
        }
    }

    /// How well a message matches, the more the better.
    pub fn in_text(&self, text: &str) -> Option<u32> {
        let lower = text.to_lowercase();
        let words: Vec<String> = lower
            .split_whitespace()
            .map(plain)
            .filter(|word| !word.is_empty())
            .collect();
        let pairs = words.windows(2).map(|pair| pair.concat());
        if lower.contains(&self.phrase) {
            Some(50)
        } else if words.iter().any(|word| word.contains(&self.plain)) {
            Some(45)
        } else if pairs.into_iter().any(|pair| pair == self.plain) {
            Some(40)
        } else if words.iter().any(|word| self.is_near(word)) {
            Some(30)
        } else {
            None
        }
    }

    fn is_near(&self, word: &str) -> bool {
        let length = self.plain.chars().count();
        let allowed = match length {
            ..FUZZY_FROM => return false,
            FUZZY_FROM..FUZZY_TWICE => 1,
            _ => 2,
        };
        word.chars().count().abs_diff(length) <= allowed
            && strsim::osa_distance(word, &self.plain) <= allowed
    }
}

fn plain(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project(name: &str) -> Project {
        Project::named(name).unwrap()
    }

    #[test]
    fn folders_match_whatever_their_spelling() {
        for (name, path) in [
            ("eastore", "/Users/anna/code/eastore"),
            ("EaStore", "/home/anna/ea-store"),
            ("ea store", "/home/anna/EaStore-web"),
            ("eastor", "/home/anna/eastore"),
            ("eatsore", "/home/anna/eastore"),
            ("web shop", "/home/shop/web"),
            ("Größe", "/home/anna/größe"),
        ] {
            assert!(project(name).in_path(path).is_some(), "{name} in {path}");
        }
        for (name, path) in [
            ("eastore", "/home/anna/westwing"),
            ("cat", "/home/anna/car"),
            ("blog", "/home/anna/.openclaw/workspace"),
        ] {
            assert_eq!(project(name).in_path(path), None, "{name} in {path}");
        }
        assert!(Project::named(" -/ ").is_none());
    }

    #[test]
    fn exact_folder_is_the_best() {
        let name = project("app");
        assert!(name.in_path("/x/app") > name.in_path("/x/application"));
        assert!(name.in_path("/x/application") > name.in_path("/x/myapplication"));
        assert!(name.in_path("/x/myapp") > name.in_text("the app"));
    }

    #[test]
    fn messages_match_by_their_words() {
        let name = project("eastore");
        for text in [
            "Let's build the EAStore login",
            "the ea-store again",
            "deploy ea store",
            "eastroe is down",
        ] {
            assert!(name.in_text(text).is_some(), "{text}");
        }
        assert_eq!(name.in_text("what is for dinner?"), None);
    }
}
