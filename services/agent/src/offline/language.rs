//! What the offline backend says, in the user's language where that is told
//! from a few words.

use openclaw_analysis as analysis;

/// A language that has phrases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Language {
    English,
    German,
    French,
    Spanish,
    Japanese,
}

/// Those that are told by their words.
const SPOKEN: [(analysis::Language, Language); 4] = [
    (analysis::Language::English, Language::English),
    (analysis::Language::German, Language::German),
    (analysis::Language::French, Language::French),
    (analysis::Language::Spanish, Language::Spanish),
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

    /// The language of the first of `texts` that tells one; English where none
    /// does.
    pub(super) fn of<'a>(texts: impl IntoIterator<Item = &'a str>) -> Self {
        let told = texts.into_iter().find_map(Self::told);
        told.unwrap_or(Self::English)
    }

    /// The language of `text`, where something in it tells.
    fn told(text: &str) -> Option<Self> {
        let is_kana = |c: char| matches!(c, '\u{3040}'..='\u{30ff}');
        if text.contains(is_kana) {
            return Some(Self::Japanese);
        }
        let spoken = SPOKEN.iter().map(|(spoken, _)| *spoken);
        let spoken = analysis::spoken(text, spoken.collect())?;
        let own = SPOKEN.iter().find(|(other, _)| *other == spoken);
        own.map(|(_, language)| *language)
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

    /// Where a note was put, and how it is taken away again.
    pub(super) fn noted(self, place: &str) -> String {
        match self {
            Self::English => format!("Noted in {place}. `/forget {place}` takes it away.\n"),
            Self::German => format!("Notiert in {place}. `/forget {place}` nimmt es weg.\n"),
            Self::French => format!("Noté dans {place}. `/forget {place}` le retire.\n"),
            Self::Spanish => format!("Anotado en {place}. `/forget {place}` lo quita.\n"),
            Self::Japanese => {
                format!("{place} に記録しました。`/forget {place}` で取り消せます。\n")
            }
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
mod tests;
