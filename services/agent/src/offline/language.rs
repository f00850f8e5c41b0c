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

impl Language {
    /// All of them.
    #[cfg(test)]
    pub(super) const ALL: [Self; 5] = [
        Self::English,
        Self::German,
        Self::French,
        Self::Spanish,
        Self::Japanese,
    ];

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
}
