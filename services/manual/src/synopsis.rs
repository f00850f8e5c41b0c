//! How a command is called: its options with their values.

use clap::{Arg, ArgAction, Command};

use crate::roff;

/// The lines of the synopsis.
pub(crate) fn lines(command: &Command) -> String {
    let name = command
        .get_bin_name()
        .unwrap_or_else(|| command.get_name())
        .to_owned();
    let name = format!("\\fB{}\\fR", roff::escaped(&name));
    let has_commands = command.get_subcommands().any(|it| !it.is_hide_set());
    let is_either = command.is_args_conflicts_with_subcommands_set();
    let arguments: Vec<String> = all(command).map(argument).collect();
    let mut forms = vec![arguments];
    if has_commands {
        let command_word = "\\fICOMMAND\\fR".to_owned();
        if is_either {
            forms.push(vec![command_word]);
        } else if let Some(arguments) = forms.first_mut() {
            let is_wanted = command.is_subcommand_required_set();
            arguments.push(if is_wanted {
                command_word
            } else {
                format!("[{command_word}]")
            });
        }
    }
    let lines = forms.into_iter().map(|words| {
        let words = std::iter::once(name.clone()).chain(words);
        words.collect::<Vec<_>>().join(" ")
    });
    lines.collect::<Vec<_>>().join("\n.br\n") + "\n"
}

/// Options before what is named by its place.
fn all(command: &Command) -> impl Iterator<Item = &Arg> {
    let shown = || command.get_arguments().filter(|arg| !arg.is_hide_set());
    let options = shown().filter(|arg| !arg.is_positional());
    options.chain(shown().filter(|arg| arg.is_positional()))
}

fn argument(arg: &Arg) -> String {
    let value = value(arg);
    let text = if arg.is_positional() {
        value.unwrap_or_default()
    } else {
        let short = arg.get_short().map(|it| format!("-{it}"));
        let long = arg.get_long().map(|it| format!("--{it}"));
        let names = short.into_iter().chain(long);
        let names = names.map(|name| format!("\\fB{}\\fR", roff::escaped(&name)));
        let names = names.collect::<Vec<_>>().join("|");
        match value {
            None => names,
            Some(value) if is_optional(arg) && arg.is_require_equals_set() => {
                format!("{names}[={value}]")
            }
            Some(value) if is_optional(arg) => format!("{names} [{value}]"),
            Some(value) => format!("{names} {value}"),
        }
    };
    let is_many = matches!(arg.get_action(), ArgAction::Append | ArgAction::Count);
    let text = if is_many { format!("{text}...") } else { text };
    if arg.is_required_set() {
        text
    } else {
        format!("[{text}]")
    }
}

fn is_optional(arg: &Arg) -> bool {
    arg.get_num_args().is_some_and(|it| it.min_values() == 0)
}

/// None: it has none.
fn value(arg: &Arg) -> Option<String> {
    if !arg.get_num_args().is_some_and(|it| it.takes_values()) {
        return None;
    }
    let names = arg.get_value_names().map(|names| {
        let names = names
            .iter()
            .map(|name| format!("\\fI{}\\fR", roff::escaped(name)));
        names.collect::<Vec<_>>().join(" ")
    });
    Some(names.unwrap_or_else(|| roff::escaped(arg.get_id().as_str())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(command: Command) -> String {
        let mut command = command
            .disable_help_flag(true)
            .disable_help_subcommand(true);
        command.build();
        let text = lines(&command);
        text.replace("\\fB", "")
            .replace("\\fI", "")
            .replace("\\fR", "")
            .replace("\\-", "-")
    }

    #[test]
    fn options_have_their_values() {
        let command = Command::new("x")
            .arg(
                Arg::new("level")
                    .short('l')
                    .long("level")
                    .value_name("LEVEL"),
            )
            .arg(Arg::new("json").long("json").action(ArgAction::SetTrue))
            .arg(Arg::new("to").long("to").value_name("WHERE").required(true))
            .arg(
                Arg::new("announce")
                    .long("announce")
                    .value_name("SESSION")
                    .num_args(0..=1)
                    .require_equals(true),
            )
            .arg(
                Arg::new("watch")
                    .long("watch")
                    .value_name("SECONDS")
                    .num_args(0..=1),
            )
            .arg(
                Arg::new("text")
                    .value_name("TEXT")
                    .action(ArgAction::Append),
            )
            .arg(Arg::new("hidden").long("hidden").hide(true));
        assert_eq!(
            shown(command),
            "x [-l|--level LEVEL] [--json] --to WHERE [--announce[=SESSION]] \
             [--watch [SECONDS]] [TEXT...]\n"
        );
    }

    #[test]
    fn commands_are_instead_of_options_where_both_do_not_go() {
        let of = |is_either: bool| {
            let json = Arg::new("json").long("json").action(ArgAction::SetTrue);
            let command = Command::new("x").arg(json).subcommand(Command::new("list"));
            shown(command.args_conflicts_with_subcommands(is_either))
        };
        assert_eq!(of(true), "x [--json]\n.br\nx COMMAND\n");
        assert_eq!(of(false), "x [--json] [COMMAND]\n");
    }
}
