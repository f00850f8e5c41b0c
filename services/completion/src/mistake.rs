//! What may have been meant by a word that is neither a command nor a value: what is near it, and
//! nothing that is hidden.

use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use openclaw_config::nearest::nearest;

/// Names that are offered at most.
const LIMIT: usize = 3;
/// Letters from which on the beginning of a name is near it.
const BEGINNING: usize = 3;

/// Puts what may have been meant into `error`, which came of `words` behind the program's
/// name. `aliases` are commands of the user's own.
pub fn suggest(error: &mut clap::Error, command: &Command, words: &[String], aliases: &[&str]) {
    match error.kind() {
        ErrorKind::InvalidSubcommand => commands(error, command, words, aliases),
        ErrorKind::InvalidValue => value(error),
        _ => {}
    }
}

fn commands(error: &mut clap::Error, command: &Command, words: &[String], aliases: &[&str]) {
    let Some(name) = text(error, ContextKind::InvalidSubcommand) else {
        return;
    };
    let (place, is_first) = place(command, words, &name);
    let shown = place.get_subcommands().filter(|it| !it.is_hide_set());
    let mut known: Vec<&str> = shown
        .flat_map(|it| std::iter::once(it.get_name()).chain(it.get_visible_aliases()))
        .collect();
    if is_first {
        known.extend(aliases);
    }
    let near = near(&name, known);
    if near.is_empty() {
        error.remove(ContextKind::SuggestedSubcommand);
        // A list without anything leaves an empty line.
        if let Some(ContextValue::StyledStrs(others)) = error.get(ContextKind::Suggested)
            && others.is_empty()
        {
            error.remove(ContextKind::Suggested);
        }
    } else {
        error.insert(
            ContextKind::SuggestedSubcommand,
            ContextValue::Strings(near),
        );
    }
}

/// The command below which `name` was looked for, and whether that is the program.
fn place<'a>(command: &'a Command, words: &[String], name: &str) -> (&'a Command, bool) {
    let (mut place, mut is_first) = (command, true);
    let before = words.iter().take_while(|word| *word != name);
    for word in before.filter(|word| !word.starts_with('-') && *word != "help") {
        if let Some(below) = place.find_subcommand(word) {
            (place, is_first) = (below, false);
        }
    }
    (place, is_first)
}

/// Those of `known` that `name` nearly is, the nearest first.
fn near(name: &str, mut known: Vec<&str>) -> Vec<String> {
    let mut near = Vec::new();
    while let Some(nearest) = nearest(name, known.iter().copied())
        && near.len() < LIMIT
    {
        near.push(nearest.to_owned());
        known.retain(|it| *it != nearest);
    }
    if name.chars().count() >= BEGINNING {
        let longer = known.iter().filter(|it| it.starts_with(name));
        near.extend(longer.map(|it| (*it).to_owned()));
    }
    near.truncate(LIMIT);
    near
}

fn value(error: &mut clap::Error) {
    let Some(given) = text(error, ContextKind::InvalidValue) else {
        return;
    };
    let valid = match error.get(ContextKind::ValidValue) {
        Some(ContextValue::Strings(valid)) => valid.iter().map(String::as_str),
        _ => return,
    };
    match nearest(&given, valid).map(str::to_owned) {
        Some(near) => error.insert(ContextKind::SuggestedValue, ContextValue::String(near)),
        None => error.remove(ContextKind::SuggestedValue),
    };
}

fn text(error: &clap::Error, kind: ContextKind) -> Option<String> {
    match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use clap::Arg;
    use clap::builder::PossibleValuesParser;

    use super::*;

    fn command() -> Command {
        let shells = PossibleValuesParser::new(["bash", "zsh", "fish"]);
        Command::new("x")
            .subcommand_required(true)
            .subcommand(Command::new("status"))
            .subcommand(Command::new("start"))
            .subcommand(
                Command::new("turns")
                    .visible_alias("runs")
                    .subcommand(Command::new("show"))
                    .subcommand(Command::new("attach")),
            )
            .subcommand(Command::new("completions").arg(Arg::new("shell").value_parser(shells)))
            .subcommand(Command::new("activate").hide(true))
    }

    /// The tip.
    fn tip(line: &str) -> String {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let all = std::iter::once("x".to_owned()).chain(words.iter().cloned());
        let mut error = command().try_get_matches_from(all).unwrap_err();
        suggest(&mut error, &command(), &words, &["last"]);
        let said = error.to_string();
        let tip = said
            .lines()
            .find_map(|line| line.trim().strip_prefix("tip: "));
        tip.unwrap_or_default().to_owned()
    }

    #[test]
    fn mistake_what_is_near_is_offered() {
        let one = |name: &str| format!("a similar subcommand exists: '{name}'");
        for (line, name) in [
            ("stauts", "status"),
            ("lsat", "last"),
            ("rusn", "runs"),
            ("comp", "completions"),
            ("turns shwo", "show"),
            ("help statu", "status"),
            ("help turns shwo", "show"),
            ("turns help shwo", "show"),
        ] {
            assert_eq!(tip(line), one(name), "{line}");
        }
        assert_eq!(tip("completions zhs"), "a similar value exists: 'zsh'");
    }

    #[test]
    fn mistake_what_is_not_near_or_is_hidden_is_not() {
        for line in [
            "a",
            "activat",
            "turns lsat",
            "turns x",
            "garden",
            "completions perl",
        ] {
            assert_eq!(tip(line), "", "{line}");
        }
    }
}
