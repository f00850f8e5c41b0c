//! The man pages: of the commands by their own definition, of the settings by
//! their own keys, and of what runs by itself in words.

mod commands;
pub mod examples;
pub mod exits;
mod notes;
mod roff;
mod settings;
mod synopsis;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use clap::Command;

use examples::Example;

/// Pages in words, by their file names, from their second line on.
const WORDS: [(&str, &str); 6] = [
    (
        "man8/openclaw-gateway.8",
        include_str!("pages/openclaw-gateway.8"),
    ),
    (
        "man8/openclaw-agent-runner.8",
        include_str!("pages/openclaw-agent-runner.8"),
    ),
    (
        "man8/openclaw-memory.8",
        include_str!("pages/openclaw-memory.8"),
    ),
    (
        "man8/openclaw-telegram.8",
        include_str!("pages/openclaw-telegram.8"),
    ),
    (
        "man7/openclaw.target.7",
        include_str!("pages/openclaw.target.7"),
    ),
    ("man5/openclaw-env.5", include_str!("pages/openclaw-env.5")),
];

/// Stands in those of daemons for what they end with.
const EXITS: &str = ".SH EXIT STATUS\n";

/// What the pages are made of.
#[derive(Debug)]
pub struct Manual<'a> {
    /// `openclawctl` with all its commands.
    pub command: Command,
    /// Examples of a command, by its words (`sessions show`).
    pub examples: fn(&str) -> &'static [Example],
    /// The JSON schema of the settings.
    pub schema: &'a str,
    /// Of which day the pages are.
    pub date: &'a str,
}

impl Manual<'_> {
    /// Writes every page into the folder of its section beneath `folder`; the
    /// paths.
    ///
    /// # Errors
    /// When one cannot be written.
    pub fn write(self, folder: &Path) -> io::Result<Vec<PathBuf>> {
        let mut written = Vec::new();
        for (name, text) in self.pages()? {
            let path = folder.join(name);
            if let Some(folder) = path.parent() {
                fs::create_dir_all(folder)?;
            }
            fs::write(&path, text)?;
            written.push(path);
        }
        Ok(written)
    }

    /// Every page with its file name.
    fn pages(self) -> io::Result<Vec<(String, String)>> {
        let mut pages = commands::pages(self.command, self.examples, self.date)?;
        pages.push((
            "man5/openclaw.json.5".to_owned(),
            settings::page(self.schema, self.date),
        ));
        pages.extend(WORDS.map(|(name, text)| (name.to_owned(), titled(name, text, self.date))));
        Ok(pages)
    }
}

/// The page of the file `name` with its first line.
fn titled(name: &str, text: &str, date: &str) -> String {
    let file = name.rsplit('/').next().unwrap_or_default();
    let (page, section) = file.rsplit_once('.').unwrap_or((file, ""));
    let text = text.replace(EXITS, &exits::section(&exits::OF_DAEMONS));
    roff::title(&page.to_uppercase(), section, date) + &text
}

#[cfg(test)]
mod tests {
    use clap::Arg;

    use super::*;

    #[test]
    fn manual_every_command_has_a_page_with_its_options_and_examples() {
        let command = Command::new("openclawctl").about("Talks").subcommand(
            Command::new("sessions").about("Sessions").subcommand(
                Command::new("show").about("Show one").arg(
                    Arg::new("limit")
                        .long("limit")
                        .value_name("N")
                        .help("At most 'so' many"),
                ),
            ),
        );
        let manual = Manual {
            command: command.subcommand(Command::new("inner").hide(true)),
            examples: |words| match words {
                "sessions show" => &[("openclawctl sessions show main", "the main one")],
                _ => &[],
            },
            schema: r##"{"properties": {"a": {"$ref": "#/$defs/A", "description": "`a`."}},
                "$defs": {"A": {"properties": {"bB": {"type": "integer", "default": 3,
                "minimum": 1, "description": "How many."}}}}}"##,
            date: "2026-11-26",
        };
        let folder = tempfile::tempdir().unwrap();
        let written = manual.write(folder.path()).unwrap();
        let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
        let page = read("man1/openclawctl-sessions-show.1");
        for text in [
            "\\-\\-limit",
            "[\\fB\\-\\-limit\\fR \\fIN\\fR]",
            ".SH EXAMPLES",
            "the main one",
            ".SH EXIT STATUS",
            "Wrong usage.",
            "openclawctl\\-sessions(1)",
        ] {
            assert!(page.contains(text), "{text}\n{page}");
        }
        assert!(read("man1/openclawctl.1").contains("openclawctl\\-sessions(1)"));
        let settings = read("man5/openclaw.json.5");
        for text in [".B a.bB", "How many.", "Default: 3.", "At least 1."] {
            assert!(settings.contains(text), "{text}\n{settings}");
        }
        assert!(
            !written
                .iter()
                .any(|path| path.to_str().unwrap().contains("inner"))
        );
        assert_eq!(written.len(), 3 + 1 + WORDS.len());
        for path in &written {
            let text = fs::read_to_string(path).unwrap();
            let (first, rest) = text.split_once('\n').unwrap();
            assert!(first.starts_with(".TH \"OPENCLAW"), "{path:?}: {first}");
            assert!(first.contains("\"2026-11-26\""), "{path:?}: {first}");
            assert!(rest.starts_with(".SH NAME\n"), "{path:?}: {rest}");
            assert!(!text.contains(".br\n\n"), "{path:?}: {text}");
        }
        assert!(read("man7/openclaw.target.7").starts_with(".TH \"OPENCLAW.TARGET\" \"7\""));
    }
}
