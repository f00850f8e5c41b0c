//! What a shell is told, so that it asks `openclawctl complete`.

use crate::candidate::Candidate;

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
    local IFS=$'\n' words
    # Bash takes a word apart at these, and would repeat what stands before them.
    local line="${COMP_LINE:0:COMP_POINT}" current
    mapfile -t words < <(printf '%s\n' "$line" | tr -s ' \t' '\n')
    [[ $line == *[[:space:]] ]] && words+=("")
    current=${words[-1]}
    local found
    COMPREPLY=()
    # Nothing but what it says, unless the word may be a file.
    found=$(openclawctl complete bash -- "${words[@]:1}" 2>/dev/null) || compopt -o default
    [[ -n $found ]] && mapfile -t COMPREPLY <<< "$found"
    local before=${current%"${current##*[:=]}"}
    [[ -n $before ]] && COMPREPLY=("${COMPREPLY[@]#"$before"}")
}
complete -F _openclawctl openclawctl
"#;

const ZSH: &str = r#"#compdef openclawctl
_openclawctl() {
    local -a found
    local said
    local -i may_be_file=0
    said=$(openclawctl complete zsh -- "${(@)words[2,CURRENT]}" 2>/dev/null) || may_be_file=1
    [[ -n $said ]] && found=("${(@f)said}")
    if (( ${#found} )); then _describe -V openclawctl found; elif (( may_be_file )); then _files; fi
}
if [ "$funcstack[1]" = _openclawctl ]; then _openclawctl "$@"; else compdef _openclawctl openclawctl; fi
"#;

const FISH: &str = r#"function __openclawctl_complete
    set -l words (commandline --tokenize --cut-at-cursor --current-process) (commandline --current-token --cut-at-cursor)
    openclawctl complete fish -- $words[2..-1] 2>/dev/null
    or __fish_complete_path (commandline --current-token --cut-at-cursor)
end
complete --command openclawctl --no-files --keep-order --arguments '(__openclawctl_complete)'
"#;

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

    /// A candidate as the shell reads it; none where it would be more than one line.
    /// Bash puts it into the command line as it is, and names of sessions are chosen by
    /// whoever begins them: what it would expand is quoted. The others quote themselves.
    #[must_use]
    pub fn line(self, candidate: &Candidate) -> Option<String> {
        let Candidate { word, help } = candidate;
        if word.chars().any(char::is_control) {
            return None;
        }
        let help = help.replace(char::is_control, " ");
        Some(match self {
            Self::Bash => quoted(word),
            // A colon ends the word there.
            Self::Zsh => {
                let word = word.replace('\\', "\\\\").replace(':', "\\:");
                format!("{word}:{help}")
            }
            Self::Fish => format!("{word}\t{help}"),
        })
    }
}

/// As bash takes it for one word.
fn quoted(word: &str) -> String {
    let mut all = String::with_capacity(word.len());
    for letter in word.chars() {
        if !letter.is_alphanumeric() && !PLAIN.contains(letter) {
            all.push('\\');
        }
        all.push(letter);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_others_are_no_commands() {
        let of = |word: &str| Candidate {
            word: word.to_owned(),
            help: "a\nb".to_owned(),
        };
        let hostile = of("agent:main:zy$({touch,/tmp/x})");
        let expected = "agent:main:zy\\$\\(\\{touch,/tmp/x\\}\\)";
        assert_eq!(Shell::Bash.line(&hostile).unwrap(), expected);
        assert_eq!(
            Shell::Bash.line(&of("größe `id`")).unwrap(),
            "größe\\ \\`id\\`"
        );
        assert_eq!(Shell::Fish.line(&of("a")).unwrap(), "a\ta b");
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
            assert_eq!(shell.line(&of("a\nb")), None);
        }
    }

    #[test]
    fn shells_are_told_the_word_and_what_it_is() {
        let candidate = Candidate {
            word: "agent:main:main".to_owned(),
            help: "today".to_owned(),
        };
        let lines = [Shell::Bash, Shell::Zsh, Shell::Fish].map(|it| it.line(&candidate).unwrap());
        let expected = [
            "agent:main:main",
            "agent\\:main\\:main:today",
            "agent:main:main\ttoday",
        ];
        assert_eq!(lines, expected);
        let label = Candidate {
            word: "Ada's trip $(x)".to_owned(),
            help: String::new(),
        };
        assert_eq!(
            Shell::Bash.line(&label).unwrap(),
            "Ada\\'s\\ trip\\ \\$\\(x\\)"
        );
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
            assert!(
                shell.script().contains("openclawctl complete "),
                "{shell:?}"
            );
        }
    }
}
