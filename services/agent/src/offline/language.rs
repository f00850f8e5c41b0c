//! What the offline backend says, in the user's language where that is told
//! from a few words.

/// A language that has phrases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Language {
    English,
    German,
    French,
    Spanish,
    Japanese,
}

/// Words that tell a language, of those that are in nearly every sentence.
const TELLING: [(Language, &[&str]); 4] = [
    (
        Language::German,
        &[
            "der", "die", "das", "ist", "und", "wo", "wer", "wie", "wann", "mein", "meine",
            "meinem", "meinen", "ich", "nicht", "hat", "habe", "ein", "eine", "für", "von", "vom",
            "heißt", "welche", "welcher", "welches", "den", "dem", "was", "hallo", "guten", "moin",
            "servus", "danke", "bei", "zum", "zur", "viel",
        ],
    ),
    (
        Language::French,
        &[
            "le",
            "la",
            "les",
            "est",
            "et",
            "où",
            "qui",
            "quand",
            "comment",
            "mon",
            "ma",
            "mes",
            "je",
            "pas",
            "un",
            "une",
            "des",
            "du",
            "quel",
            "quelle",
            "combien",
            "bonjour",
            "salut",
            "bonsoir",
            "ai",
            "a-t-il",
            "c'est",
            "qu'est-ce",
            "l'immeuble",
            "merci",
            "que",
            "pour",
            "à",
            "de",
        ],
    ),
    (
        Language::Spanish,
        &[
            "el", "la", "los", "las", "es", "y", "dónde", "quién", "cuándo", "cómo", "mi", "mis",
            "yo", "no", "un", "una", "del", "qué", "cuál", "cuánto", "cuánta", "hola", "buenos",
            "buenas", "está", "tengo", "de", "gracias", "para", "que",
        ],
    ),
    (
        Language::English,
        &[
            "the", "is", "and", "where", "who", "when", "how", "my", "i", "not", "a", "an", "of",
            "what", "which", "hello", "hi", "hey", "does", "do", "did", "are", "was", "in", "for",
            "to", "thanks",
        ],
    ),
];

/// How people greet, in lower case.
const GREETINGS: [&str; 30] = [
    "hello",
    "hi",
    "hey",
    "hiya",
    "howdy",
    "good morning",
    "good afternoon",
    "good evening",
    "good day",
    "greetings",
    "hallo",
    "guten morgen",
    "guten tag",
    "guten abend",
    "moin",
    "servus",
    "grüezi",
    "grüß gott",
    "bonjour",
    "salut",
    "bonsoir",
    "coucou",
    "hola",
    "buenos días",
    "buenas tardes",
    "buenas noches",
    "buenas",
    "こんにちは",
    "おはよう",
    "こんばんは",
];
/// What may stand beside a greeting that is nothing else: "hello there".
const BESIDE: usize = 2;

impl Language {
    /// The language of `text`; English when nothing tells.
    pub(super) fn of(text: &str) -> Self {
        let is_kana = |c: char| matches!(c, '\u{3040}'..='\u{30ff}');
        if text.contains(is_kana) {
            return Self::Japanese;
        }
        if text.contains(['¿', '¡', 'ñ']) {
            return Self::Spanish;
        }
        let lower = text.to_lowercase();
        let words: Vec<&str> = lower
            .split(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '\'' | '’')))
            .filter(|word| !word.is_empty())
            .collect();
        let count = |telling: &[&str]| words.iter().filter(|word| telling.contains(word)).count();
        let mut best = (Self::English, 0);
        for (language, telling) in TELLING {
            let found = count(telling);
            if found >= best.1 && found > 0 {
                best = (language, found);
            }
        }
        best.0
    }

    /// Where an answer is from, before it.
    pub(super) fn place(self, path: &str) -> String {
        match self {
            Self::English | Self::German => format!("In {path}: "),
            Self::French => format!("Dans {path} : "),
            Self::Spanish => format!("En {path}: "),
            Self::Japanese => format!("{path} に: "),
        }
    }

    /// Before what the user said.
    pub(super) fn you_said(self) -> &'static str {
        match self {
            Self::English => "You said: ",
            Self::German => "Du hast gesagt: ",
            Self::French => "Tu as dit : ",
            Self::Spanish => "Dijiste: ",
            Self::Japanese => "あなたの言葉: ",
        }
    }

    /// Before what the assistant said.
    pub(super) fn i_said(self) -> &'static str {
        match self {
            Self::English => "I said: ",
            Self::German => "Ich habe gesagt: ",
            Self::French => "J'ai dit : ",
            Self::Spanish => "Dije: ",
            Self::Japanese => "私の言葉: ",
        }
    }

    /// Nothing answers.
    pub(super) fn nothing(self) -> &'static str {
        match self {
            Self::English => {
                "I found nothing about that in your memory, and no model is connected to ask. \
                 `/remember …` notes something, `/help` lists what I can do."
            }
            Self::German => {
                "Dazu habe ich in deinen Notizen nichts gefunden, und kein Modell ist verbunden, das ich fragen \
                 könnte. `/remember …` merkt etwas, `/help` zeigt, was ich kann."
            }
            Self::French => {
                "Je n'ai rien trouvé à ce sujet dans tes notes, et aucun modèle n'est connecté. \
                 `/remember …` note quelque chose, `/help` dit ce que je sais faire."
            }
            Self::Spanish => {
                "No encontré nada sobre eso en tus notas, y no hay ningún modelo conectado. \
                 `/remember …` anota algo, `/help` muestra lo que puedo hacer."
            }
            Self::Japanese => {
                "メモには見つかりませんでした。モデルも接続されていません。`/remember …` で記録、`/help` で使い方を表示します。"
            }
        }
    }

    /// The answer to a greeting: what can be done now.
    pub(super) fn greeting(self) -> &'static str {
        match self {
            Self::English => {
                "Hello! While no model is connected, I answer from your notes and past conversations: ask me, tell me with `/remember …`, or see \
                 `/help`."
            }
            Self::German => {
                "Hallo! Ich antworte aus deinen Notizen und früheren Gesprächen: frag mich, sag mir etwas mit \
                 `/remember …`, oder sieh `/help` an."
            }
            Self::French => {
                "Bonjour ! Je réponds à partir de tes notes et de nos conversations : demande-moi, dis-moi quelque \
                 chose avec `/remember …`, ou vois `/help`."
            }
            Self::Spanish => {
                "¡Hola! Respondo a partir de tus notas y conversaciones: pregúntame, dime algo con `/remember …`, o \
                 mira `/help`."
            }
            Self::Japanese => {
                "こんにちは！メモと過去の会話から答えます。質問するか、`/remember …` で記録するか、`/help` をご覧ください。"
            }
        }
    }
}

/// Whether a message only greets.
pub(super) fn is_greeting(text: &str) -> bool {
    let lower = text.trim().to_lowercase();
    let bare = lower.trim_end_matches(|c: char| !c.is_alphanumeric());
    GREETINGS.iter().any(|greeting| {
        bare.strip_prefix(greeting).is_some_and(|rest| {
            let begins = rest.chars().next();
            let is_apart = begins.is_none_or(|c| !c.is_alphanumeric()) || rest == "ございます";
            is_apart && rest.split_whitespace().count() <= BESIDE && !lower.contains(['?', '？'])
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn language_is_told_by_common_words() {
        for (text, language) in [
            ("Where is the spare key?", Language::English),
            ("Wo ist der Schlüssel?", Language::German),
            ("Où est la clé ?", Language::French),
            ("¿Dónde está la llave?", Language::Spanish),
            ("鍵はどこですか", Language::Japanese),
            ("hallo", Language::German),
            ("zeppelin", Language::English),
        ] {
            assert_eq!(Language::of(text), language, "{text}");
        }
    }

    #[test]
    fn greetings_are_told_from_questions() {
        for text in [
            "hello",
            "Hi there!",
            "Guten Morgen",
            "おはようございます",
            "hola",
        ] {
            assert!(is_greeting(text), "{text}");
        }
        for text in [
            "hello, where is my key?",
            "history of my car",
            "hi where did I put it again",
            "key",
        ] {
            assert!(!is_greeting(text), "{text}");
        }
    }
}
