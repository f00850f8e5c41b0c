//! A page for each command.

use std::io;

use clap::Command;
use clap_mangen::Man;

use crate::examples::Example;
use crate::roff;
use crate::{exits, notes, synopsis};

/// Files and variables that every command knows.
const FILES: [(&str, &str); 4] = [
    (
        "~/.openclaw/openclaw.json",
        "The settings: openclaw.json(5).",
    ),
    ("~/.openclaw", "The state: conversations, memory, tokens."),
    ("~/.config/openclaw/env", "Keys of models: openclaw-env(5)."),
    (
        "~/.config/openclaw/aliases",
        "Commands of your own, one a line: st = status --verbose; behind ! a line of the shell.",
    ),
];
const VARIABLES: [(&str, &str); 4] = [
    ("OPENCLAW_STATE_DIR", "Another place of the state."),
    (
        "OPENCLAW_RUNTIME_DIR",
        "Another place of the daemons' sockets.",
    ),
    (
        "OPENCLAW_PAGER, PAGER",
        "What shows long output on a terminal; cat or nothing: none.",
    ),
    (
        "NO_COLOR",
        "No colours; what is laid out, bold text and links stay.",
    ),
];
/// How clap_mangen keeps an option's possible values apart from its help: the line break
/// before and behind the empty line does nothing, and linters say so.
const BREAKS: &str = ".br\n\n.br\n";
/// The same without.
const SPACE: &str = ".sp\n";

/// The pages of `command` and of all below it.
pub(crate) fn pages(
    mut command: Command,
    examples: fn(&str) -> &'static [Example],
    date: &str,
) -> io::Result<Vec<(String, String)>> {
    command.build();
    let mut pages = Vec::new();
    let look = Look { examples, date };
    look.add(&command, &[], &mut pages)?;
    Ok(pages)
}

/// What pages have beside their command.
struct Look<'a> {
    examples: fn(&str) -> &'static [Example],
    date: &'a str,
}

impl Look<'_> {
    fn add(
        &self,
        command: &Command,
        above: &[&str],
        pages: &mut Vec<(String, String)>,
    ) -> io::Result<()> {
        let mut words = above.to_vec();
        words.push(command.get_name());
        let name = words.join("-");
        pages.push((format!("man1/{name}.1"), self.page(command, &words)?));
        for below in shown(command) {
            self.add(below, &words, pages)?;
        }
        Ok(())
    }

    fn page(&self, command: &Command, words: &[&str]) -> io::Result<String> {
        let name = words.join("-");
        let below = words.get(1..).unwrap_or_default().join(" ");
        let man = Man::new(command.clone().display_name(name.clone()));
        let mut text = roff::title(&name.to_uppercase(), "1", self.date);
        text.push_str(&roff::section("NAME"));
        let about = command
            .get_about()
            .map(ToString::to_string)
            .unwrap_or_default();
        text.push_str(&format!(
            "{} \\- {}\n",
            roff::escaped(&name),
            roff::escaped(&about)
        ));
        text.push_str(&roff::section("SYNOPSIS"));
        text.push_str(&synopsis::lines(command));
        let mut rendered = Vec::new();
        man.render_description_section(&mut rendered)?;
        if command.get_arguments().any(|arg| !arg.is_hide_set()) {
            man.render_options_section(&mut rendered)?;
        }
        let rendered = String::from_utf8_lossy(&rendered);
        text.push_str(&rendered.replace(BREAKS, SPACE));
        commands(command, &name, &mut text);
        if let Some(words) = notes::of(&below) {
            text.push_str(&roff::section("NOTES"));
            text.push_str(&(roff::escaped(words) + "\n"));
        }
        shown_examples((self.examples)(&below), &mut text);
        text.push_str(&exits::section(&exits::of(&below)));
        if words.len() == 1 {
            table("ENVIRONMENT", &VARIABLES, &mut text);
            table("FILES", &FILES, &mut text);
        }
        text.push_str(&roff::section("SEE ALSO"));
        text.push_str(&see_also(words));
        Ok(text)
    }
}

fn shown(command: &Command) -> impl Iterator<Item = &Command> {
    let all = command.get_subcommands();
    all.filter(|it| !it.is_hide_set() && it.get_name() != "help")
}

fn commands(command: &Command, name: &str, text: &mut String) {
    let mut all = shown(command).peekable();
    if all.peek().is_none() {
        return;
    }
    text.push_str(&roff::section("COMMANDS"));
    for below in all {
        let about = below
            .get_about()
            .map(ToString::to_string)
            .unwrap_or_default();
        let page = format!("{name}-{}(1)", below.get_name());
        text.push_str(&roff::term(&page, &about));
    }
}

fn shown_examples(examples: &[Example], text: &mut String) {
    if examples.is_empty() {
        return;
    }
    text.push_str(&roff::section("EXAMPLES"));
    for (line, what) in examples {
        text.push_str(&roff::term(line, what));
    }
}

fn table(name: &str, rows: &[(&str, &str)], text: &mut String) {
    text.push_str(&roff::section(name));
    for (term, words) in rows {
        text.push_str(&roff::term(term, words));
    }
}

fn see_also(words: &[&str]) -> String {
    let above = words.len().checked_sub(1).filter(|length| *length > 0);
    let mut pages: Vec<String> = above
        .map(|length| format!("{}(1)", words[..length].join("-")))
        .into_iter()
        .collect();
    let others = [
        "openclaw.json(5)",
        "openclaw.target(7)",
        "openclaw-gateway(8)",
        "journalctl(1)",
    ];
    pages.extend(others.map(str::to_owned));
    roff::escaped(&pages.join(", ")) + "\n"
}
