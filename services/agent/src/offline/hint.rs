//! How a model is connected, and what is to be known of the machine, in the
//! user's language.

use openclaw_turn::Hint;

use super::language::Language;

/// How a model is connected.
pub(super) fn connect(hint: &Hint, language: Language) -> String {
    match &hint.lack {
        Some(why) => lacking(why, language),
        None => missing(language).to_owned(),
    }
}

/// All that is to be known, in paragraphs.
pub(super) fn whole(hint: &Hint, language: Language) -> String {
    let mut text = connect(hint, language);
    if let Some(machine) = machine(hint, language) {
        text.push_str("\n\n");
        text.push_str(machine);
    }
    text
}

/// What this machine does not give.
pub(super) fn machine(hint: &Hint, language: Language) -> Option<&'static str> {
    hint.thinks_only.then_some(match language {
        Language::English => {
            "The sandbox is at level \"text\", the strictest that this machine gives: no command runs and no file is \
             touched; `openclawctl status` says what gives more."
        }
        Language::German => {
            "Die Sandbox ist auf der Stufe \"text\", der strengsten, die dieser Rechner hergibt: kein Befehl läuft, \
             und keine Datei wird angerührt; `openclawctl status` sagt, womit mehr geht."
        }
        Language::French => {
            "Le bac à sable est au niveau \"text\", le plus strict que cette machine offre : aucune commande n'est \
             exécutée et aucun fichier n'est touché ; `openclawctl status` dit ce qui permet davantage."
        }
        Language::Spanish => {
            "El sandbox está en el nivel \"text\", el más estricto que ofrece esta máquina: no se ejecutan comandos ni \
             se toca ningún archivo; `openclawctl status` dice qué permite más."
        }
        Language::Japanese => {
            "サンドボックスのレベルは \"text\"、このマシンで可能な最も厳しいものです。コマンドは実行されず、ファイルにも触れません。\
             `openclawctl status` でこれを広げる方法がわかります。"
        }
    })
}

/// None is configured, and nothing was found.
fn missing(language: Language) -> &'static str {
    match language {
        Language::English => {
            "No model is connected. `openclawctl setup` connects one: Claude Code, Codex, a key (ANTHROPIC_API_KEY, \
             OPENAI_API_KEY), or Ollama; `openclawctl status` shows what was found."
        }
        Language::German => {
            "Kein Modell ist verbunden. `openclawctl setup` verbindet eines: Claude Code, Codex, einen Schlüssel \
             (ANTHROPIC_API_KEY, OPENAI_API_KEY) oder Ollama; `openclawctl status` zeigt, was gefunden wurde."
        }
        Language::French => {
            "Aucun modèle n'est connecté. `openclawctl setup` en connecte un : Claude Code, Codex, une clé \
             (ANTHROPIC_API_KEY, OPENAI_API_KEY) ou Ollama ; `openclawctl status` montre ce qui a été trouvé."
        }
        Language::Spanish => {
            "No hay ningún modelo conectado. `openclawctl setup` conecta uno: Claude Code, Codex, una clave \
             (ANTHROPIC_API_KEY, OPENAI_API_KEY) u Ollama; `openclawctl status` muestra lo que se encontró."
        }
        Language::Japanese => {
            "モデルが接続されていません。`openclawctl setup` で接続できます：Claude Code、Codex、キー（ANTHROPIC_API_KEY、\
             OPENAI_API_KEY）、または Ollama。見つかったものは `openclawctl status` で確認できます。"
        }
    }
}

/// One is configured that cannot be asked. `why` is what the programs say,
/// as it stands in their logs.
fn lacking(why: &str, language: Language) -> String {
    match language {
        Language::English => format!(
            "No model is connected: {why}; `openclawctl status` shows what was found, and `openclawctl setup` connects \
             one."
        ),
        Language::German => format!(
            "Kein Modell ist verbunden ({why}); `openclawctl status` zeigt, was gefunden wurde, und `openclawctl \
             setup` verbindet eines."
        ),
        Language::French => format!(
            "Aucun modèle n'est connecté ({why}) ; `openclawctl status` montre ce qui a été trouvé, et `openclawctl \
             setup` en connecte un."
        ),
        Language::Spanish => format!(
            "No hay ningún modelo conectado ({why}); `openclawctl status` muestra lo que se encontró y `openclawctl \
             setup` conecta uno."
        ),
        Language::Japanese => format!(
            "モデルが接続されていません（{why}）。見つかったものは `openclawctl status`、接続は `openclawctl setup` です。"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hint_names_the_commands_in_every_language() {
        let lack = Some("the model a/b needs a key".to_owned());
        for language in Language::ALL {
            for lack in [None, lack.clone()] {
                let hint = Hint {
                    lack: lack.clone(),
                    thinks_only: true,
                };
                let said = whole(&hint, language);
                for words in ["`openclawctl setup`", "`openclawctl status`", "\"text\""] {
                    assert!(said.contains(words), "{words}: {said}");
                }
                assert!(said.contains(lack.as_deref().unwrap_or("Ollama")), "{said}");
                let is_english = said.contains("No model is connected");
                assert_eq!(is_english, language == Language::English, "{said}");
            }
        }
    }

    #[test]
    fn hint_says_nothing_of_a_machine_that_gives_more() {
        for language in Language::ALL {
            assert_eq!(machine(&Hint::default(), language), None);
            assert!(!whole(&Hint::default(), language).contains("\n\n"));
        }
    }
}
