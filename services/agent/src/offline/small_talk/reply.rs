//! What is said back.

use openclaw_turn::Hint;

use super::super::language::Language;
use super::super::{command, hint};
use super::{Kind, SmallTalk};

/// The answer to small talk; `runs_commands`: whether the sandbox and the policy let
/// commands run.
pub(in super::super) fn reply(said: SmallTalk, facts: &Hint, runs_commands: bool) -> String {
    let language = said.language;
    let opening = opening(said.kind, language);
    match said.kind {
        Kind::Abilities => command::help(&hint::whole(facts, language), runs_commands),
        Kind::Greeting | Kind::Welfare | Kind::Identity => {
            let space = if language == Language::Japanese {
                ""
            } else {
                " "
            };
            let abilities = abilities(language, runs_commands);
            // Two lines, whatever there is to be known.
            let hint = hint::whole(facts, language);
            let hint = hint.split_whitespace().collect::<Vec<_>>().join(" ");
            format!("{opening}{space}{abilities}\n{hint}\n")
        }
        Kind::Assent | Kind::Thanks | Kind::Farewell => match hint::machine(facts, language) {
            Some(known) => format!("{opening}\n\n{known}\n"),
            None => format!("{opening}\n"),
        },
    }
}

fn opening(kind: Kind, language: Language) -> &'static str {
    use Language::{English, French, German, Japanese, Spanish};
    match (kind, language) {
        (Kind::Greeting, English) => "Hello!",
        (Kind::Greeting, German) => "Hallo!",
        (Kind::Greeting, French) => "Bonjour !",
        (Kind::Greeting, Spanish) => "¡Hola!",
        (Kind::Greeting, Japanese) => "こんにちは！",
        (Kind::Welfare, English) => "I am well, thank you.",
        (Kind::Welfare, German) => "Mir geht es gut, danke.",
        (Kind::Welfare, French) => "Je vais bien, merci.",
        (Kind::Welfare, Spanish) => "Estoy bien, gracias.",
        (Kind::Welfare, Japanese) => "元気です、ありがとう。",
        (Kind::Identity, English) => "I am OpenClaw, your assistant on this machine.",
        (Kind::Identity, German) => "Ich bin OpenClaw, dein Assistent auf diesem Rechner.",
        (Kind::Identity, French) => "Je suis OpenClaw, ton assistant sur cette machine.",
        (Kind::Identity, Spanish) => "Soy OpenClaw, tu asistente en esta máquina.",
        (Kind::Identity, Japanese) => "私は OpenClaw、このマシンのアシスタントです。",
        (Kind::Thanks, English) => "You are welcome!",
        (Kind::Thanks, German) => "Gern geschehen!",
        (Kind::Thanks, French) => "Avec plaisir !",
        (Kind::Thanks, Spanish) => "¡De nada!",
        (Kind::Thanks, Japanese) => "どういたしまして。",
        (Kind::Farewell, English) => "Goodbye! What you told me with `/remember …` stays.",
        (Kind::Farewell, German) => "Bis bald! Was du mir mit `/remember …` gesagt hast, bleibt.",
        (Kind::Farewell, French) => "À bientôt ! Ce que tu m'as dit avec `/remember …` reste.",
        (Kind::Farewell, Spanish) => "¡Hasta luego! Lo que me dijiste con `/remember …` se queda.",
        (Kind::Farewell, Japanese) => "またね。`/remember …` で記録したことは残ります。",
        (Kind::Assent, English) => "All right. `/help` lists what I can do.",
        (Kind::Assent, German) => "Alles klar. `/help` zeigt, was ich kann.",
        (Kind::Assent, French) => "D'accord. `/help` dit ce que je sais faire.",
        (Kind::Assent, Spanish) => "De acuerdo. `/help` muestra lo que puedo hacer.",
        (Kind::Assent, Japanese) => "わかりました。`/help` で使い方を表示します。",
        (Kind::Abilities, _) => "",
    }
}

fn abilities(language: Language, runs_commands: bool) -> &'static str {
    match (language, runs_commands) {
        (Language::English, true) => {
            "While no model is connected, I can note what you tell me (`/remember …`), answer from your notes and past \
             conversations (ask me, or `/search …`) and run commands in the sandbox (`/run …`)."
        }
        (Language::English, false) => {
            "While no model is connected, I can note what you tell me (`/remember …`) and answer from your notes and \
             past conversations (ask me, or `/search …`); commands are not run here."
        }
        (Language::German, true) => {
            "Solange kein Modell verbunden ist, kann ich mir merken, was du mir sagst (`/remember …`), aus deinen \
             Notizen und früheren Gesprächen antworten (frag mich, oder `/search …`) und Befehle in der Sandbox \
             ausführen (`/run …`)."
        }
        (Language::German, false) => {
            "Solange kein Modell verbunden ist, kann ich mir merken, was du mir sagst (`/remember …`), und aus deinen \
             Notizen und früheren Gesprächen antworten (frag mich, oder `/search …`); Befehle laufen hier nicht."
        }
        (Language::French, true) => {
            "Tant qu'aucun modèle n'est connecté, je peux noter ce que tu me dis (`/remember …`), répondre à partir de \
             tes notes et de nos conversations (demande-moi, ou `/search …`) et exécuter des commandes dans le bac à \
             sable (`/run …`)."
        }
        (Language::French, false) => {
            "Tant qu'aucun modèle n'est connecté, je peux noter ce que tu me dis (`/remember …`) et répondre à partir \
             de tes notes et de nos conversations (demande-moi, ou `/search …`) ; aucune commande n'est exécutée ici."
        }
        (Language::Spanish, true) => {
            "Mientras no haya un modelo conectado, puedo anotar lo que me digas (`/remember …`), responder a partir de \
             tus notas y conversaciones (pregúntame, o `/search …`) y ejecutar comandos en el sandbox (`/run …`)."
        }
        (Language::Spanish, false) => {
            "Mientras no haya un modelo conectado, puedo anotar lo que me digas (`/remember …`) y responder a partir \
             de tus notas y conversaciones (pregúntame, o `/search …`); aquí no se ejecutan comandos."
        }
        (Language::Japanese, true) => {
            "モデルが接続されるまでは、メモすること（`/remember …`）、メモと過去の会話から答えること（質問するか `/search …`）、\
             サンドボックスでコマンドを実行すること（`/run …`）ができます。"
        }
        (Language::Japanese, false) => {
            "モデルが接続されるまでは、メモすること（`/remember …`）と、メモと過去の会話から答えること（質問するか `/search …`）が\
             できます。ここではコマンドは実行されません。"
        }
    }
}
