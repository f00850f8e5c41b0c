//! What a shell is told, so that it asks `openclawctl complete`.

use openclaw_terminal::output;

use crate::candidate::Candidate;
use crate::typed::{self, Word};

/// A shell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Shell {
    /// bash: source <(openclawctl completions bash)
    Bash,
    /// zsh: source <(openclawctl completions zsh)
    Zsh,
    /// fish: openclawctl completions fish | source
    Fish,
}

/// What bash takes as it is, besides letters and digits.
const PLAIN: &str = "-_./:=@%+,";

const BASH: &str = r#"_openclawctl() {
    local found
    COMPREPLY=()
    # Nothing but what it says, unless the word may be a file.
    found=$(openclawctl complete bash -- "${COMP_LINE:0:COMP_POINT}" "$COMP_WORDBREAKS" 2>/dev/null) ||
        compopt -o default
    [[ -n $found ]] && mapfile -t COMPREPLY <<< "$found"
}
complete -F _openclawctl openclawctl
"#;

const ZSH: &str = r#"#compdef openclawctl
_openclawctl() {
    local -a found
    local said
    local -i may_be_file=0
    said=$(openclawctl complete zsh -- "${(@)words[2,CURRENT-1]}" "$PREFIX" 2>/dev/null) || may_be_file=1
    [[ -n $said ]] && found=("${(@f)said}")
    if (( ${#found} )); then
        _describe -V openclawctl found
    elif (( may_be_file )); then
        [[ $PREFIX == -*=* ]] && compset -P '*='
        _files
    fi
}
if [ "$funcstack[1]" = _openclawctl ]; then _openclawctl "$@"; else compdef _openclawctl openclawctl; fi
"#;

const FISH: &str = r#"function __openclawctl_complete
    set -l current (commandline --current-token --cut-at-cursor)
    set -l words (commandline --tokenize --cut-at-cursor --current-process) $current
    openclawctl complete fish -- $words[2..-1] 2>/dev/null
    and return
    if string match --quiet -- '-*=*' $current
        set -l parts (string split --max 1 = -- $current)
        for path in (__fish_complete_path $parts[2])
            echo $parts[1]=$path
        end
    else
        __fish_complete_path $current
    end
end
complete --command openclawctl --no-files --keep-order --arguments '(__openclawctl_complete)'
"#;

/// A command line up to the cursor, as a shell gives it.
#[derive(Debug)]
pub struct Typed {
    shell: Shell,
    words: Vec<String>,
    /// The last of the words, which may be empty.
    last: Word,
    /// What parts a word for the shell, which puts candidates behind the last of these.
    breaks: String,
}

impl Typed {
    /// Its words behind the name of the program; what each says without its quotes.
    #[must_use]
    pub fn words(&self) -> Vec<String> {
        self.words.clone()
    }

    /// A candidate as the shell reads it; none where it would be more than one line.
    /// Bash puts it into the command line as it is, and names of sessions are chosen by
    /// whoever begins them: what it would expand is quoted. The others quote themselves.
    #[must_use]
    pub fn line(&self, candidate: &Candidate) -> Option<String> {
        let Candidate { word, help } = candidate;
        // Shown as it is, what is not seen of it would make it look like another.
        if output::line(word) != *word {
            return None;
        }
        let help = output::line(help);
        match self.shell {
            Shell::Bash => self.behind(word),
            // A colon ends the word there.
            Shell::Zsh => {
                let word = word.replace('\\', "\\\\").replace(':', "\\:");
                Some(format!("{word}:{help}"))
            }
            Shell::Fish => Some(format!("{word}\t{help}")),
        }
    }

    /// What bash puts in the place of what it takes for the word that is completed: what
    /// stands behind an open quote, or behind the last letter that parts words for it.
    fn behind(&self, word: &str) -> Option<String> {
        if let Some((quote, start)) = self.last.open {
            let rest = word.strip_prefix(&self.last.said_before(start))?;
            return match quote {
                // Nothing is a quote in there.
                '\'' => (!rest.contains('\'')).then(|| rest.to_owned()),
                _ => Some(escaped(rest, |letter| "\"\\$`!".contains(letter))),
            };
        }
        let written = self.last.written.char_indices();
        let mut at =
            written.filter(|(_, letter)| ":=".contains(*letter) && self.breaks.contains(*letter));
        let start = at
            .next_back()
            .map_or(0, |(at, letter)| at + letter.len_utf8());
        let rest = word.strip_prefix(&self.last.said_before(start))?;
        Some(escaped(rest, |letter| {
            !letter.is_alphanumeric() && !PLAIN.contains(letter)
        }))
    }
}

impl Shell {
    /// The lines that its user gives it. They ask `openclawctl complete`, which fails where
    /// files are to be offered, as it does where it is not there.
    #[must_use]
    pub fn script(self) -> &'static str {
        match self {
            Self::Bash => BASH,
            Self::Zsh => ZSH,
            Self::Fish => FISH,
        }
    }

    /// The command line that the lines of [`Self::script`] give: bash the whole line and what
    /// parts words for it, the others their words as they are written, without the program's name.
    #[must_use]
    pub fn typed(self, given: &[String]) -> Typed {
        let (mut words, breaks) = match (self, given) {
            (Self::Bash, [line, rest @ ..]) => {
                let words: Vec<Word> = typed::of_line(line).into_iter().skip(1).collect();
                (words, rest.first().cloned().unwrap_or_default())
            }
            _ => (
                given.iter().map(|word| Word::of(word)).collect(),
                String::new(),
            ),
        };
        let said = words.iter().map(|word: &Word| word.said.clone()).collect();
        Typed {
            shell: self,
            words: said,
            last: words.pop().unwrap_or_default(),
            breaks,
        }
    }
}

/// With a backslash before each letter that `is_special`.
fn escaped(word: &str, is_special: impl Fn(char) -> bool) -> String {
    let mut all = String::with_capacity(word.len());
    for letter in word.chars() {
        if is_special(letter) {
            all.push('\\');
        }
        all.push(letter);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What bash parts words at.
    const BREAKS: &str = " \t\n\"'><=;|&(:";

    fn of(word: &str) -> Candidate {
        Candidate {
            word: word.to_owned(),
            help: "a\nb".to_owned(),
        }
    }

    fn line(shell: Shell, typed: &str, word: &str) -> Option<String> {
        let given = [typed.to_owned(), BREAKS.to_owned()];
        let count = if shell == Shell::Bash { 2 } else { 1 };
        shell.typed(&given[..count]).line(&of(word))
    }

    #[test]
    fn words_of_others_are_no_commands() {
        let bash = |word: &str| line(Shell::Bash, "x ", word).unwrap();
        let expected = "agent:main:zy\\$\\(\\{touch,/tmp/x\\}\\)";
        assert_eq!(bash("agent:main:zy$({touch,/tmp/x})"), expected);
        assert_eq!(bash("größe `id`"), "größe\\ \\`id\\`");
        assert_eq!(bash("Ada's trip $(x)"), "Ada\\'s\\ trip\\ \\$\\(x\\)");
        let quoted = line(Shell::Bash, "x \"", "a \"$(id)`id`\\").unwrap();
        assert_eq!(quoted, "a \\\"\\$(id)\\`id\\`\\\\");
        assert_eq!(line(Shell::Bash, "x '", "$(id) it's"), None);
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
            for unseen in ["a\nb", "agent:main:\u{202e}niam", "ma\u{200b}in"] {
                assert_eq!(line(shell, "x ", unseen), None);
            }
        }
    }

    #[test]
    fn shells_are_told_the_word_and_what_it_is() {
        for (shell, expected) in [
            (Shell::Bash, "agent:main:main"),
            (Shell::Zsh, "agent\\:main\\:main:a⏎b"),
            (Shell::Fish, "agent:main:main\ta⏎b"),
        ] {
            assert_eq!(line(shell, "x ", "agent:main:main").unwrap(), expected);
            let script = shell.script();
            assert!(script.contains("openclawctl complete "), "{shell:?}");
        }
    }

    #[test]
    fn bash_is_told_what_stands_behind_what_it_parts() {
        for (typed, word, expected) in [
            ("x agent:main:w", "agent:main:work", "work"),
            (
                "x --session=agent:ma",
                "--session=agent:main:main",
                "main:main",
            ),
            ("x --le", "--level", "--level"),
            ("x \"agent:main:w", "agent:main:work", "agent:main:work"),
            ("x --session='Ada", "--session=Ada t", "Ada t"),
            ("x Ada\\ t", "Ada trip", "Ada\\ trip"),
            ("x \"Ada \"t", "Ada trip", "Ada\\ trip"),
        ] {
            let told = line(Shell::Bash, typed, word);
            assert_eq!(told.as_deref(), Some(expected), "{typed}");
        }
        let given = ["x agent:main:w", " "].map(str::to_owned);
        let whole = Shell::Bash.typed(&given).line(&of("agent:main:work"));
        assert_eq!(whole.as_deref(), Some("agent:main:work"));
    }

    #[test]
    fn words_are_what_they_say() {
        let given = ["x --session \"Ada t\" 'b".to_owned()];
        assert_eq!(
            Shell::Bash.typed(&given).words(),
            ["--session", "Ada t", "b"]
        );
        let given = ["--session", "Ada\\ t", "'b"].map(str::to_owned);
        assert_eq!(
            Shell::Zsh.typed(&given).words(),
            ["--session", "Ada t", "b"]
        );
    }
}
