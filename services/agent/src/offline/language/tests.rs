//! Short questions as people type them, with little but a name in them.

use super::*;

const ENGLISH: &[&str] = &[
    "How old is Felix?",
    "Where are my keys?",
    "When is the dentist?",
    "Who has the drill?",
    "What is Anna's number?",
    "How much is the rent?",
    "Which bus goes to Linz?",
    "Does Tom eat fish?",
    "Why did Marta call?",
    "Is the garage open?",
    "Did I pay Paul?",
    "my shoe size?",
    "wifi password",
    "Can Leo swim?",
    "Whose birthday is in May?",
];

const GERMAN: &[&str] = &[
    "Wie alt ist Minka?",
    "Wo sind meine Schlüssel?",
    "Wann kommt der Klempner?",
    "Wer hat die Leiter?",
    "Was kostet das Abo?",
    "Wie heißt Toms Hund?",
    "Welche Schuhgröße hat Mia?",
    "Hat Jonas Allergien?",
    "Isst Clara Fleisch?",
    "Wohin fahren wir im Mai?",
    "Wem gehört das Fahrrad?",
    "Woher kommt Ivana?",
    "Warum hat Nina abgesagt?",
    "mein WLAN Passwort?",
    "Kann Emil schwimmen?",
];

const FRENCH: &[&str] = &[
    "Quel âge a Moustache ?",
    "Où est le tournevis ?",
    "Quand part Chloé ?",
    "Qui a la perceuse ?",
    "Combien coûte le vélo ?",
    "Comment s'appelle le voisin ?",
    "Quelle pointure fait Hugo ?",
    "À quelle heure ferme la poste ?",
    "Est-ce que Luc mange du poisson ?",
    "Pourquoi Zoé est fâchée ?",
    "C'est quand, la rentrée ?",
    "D'où vient Amina ?",
    "Lequel est garanti ?",
    "Léa sait nager ?",
    "mot de passe du wifi ?",
];

const SPANISH: &[&str] = &[
    "¿Cuántos años tiene Luna?",
    "¿Dónde está el taladro?",
    "¿Cuándo llega Marta?",
    "¿Quién tiene la llave?",
    "¿Cuánto cuesta el gimnasio?",
    "¿Cómo se llama el vecino?",
    "¿Qué talla usa Pablo?",
    "¿Cuál es mi matrícula?",
    "¿De dónde es Inés?",
    "¿Por qué llamó Iván?",
    "cuando es el examen",
    "donde vive Rocio",
    "¿A qué hora cierra el banco?",
    "¿Tiene Bruno alergias?",
    "contraseña del wifi",
];

const JAPANESE: &[&str] = &[
    "ミケは何歳？",
    "鍵はどこ？",
    "歯医者はいつ？",
    "傘を持っているのは誰？",
    "家賃はいくら？",
    "田中さんの電話番号は？",
    "Wi-Fiのパスワードは？",
    "会議は何時から？",
    "猫の名前は？",
    "なぜ遅れた？",
    "靴のサイズは？",
    "トマトは好き？",
];

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
        assert_eq!(Language::of([text]), language, "{text}");
    }
}

#[test]
fn language_of_a_short_question_is_told() {
    let questions = [
        (Language::English, ENGLISH),
        (Language::German, GERMAN),
        (Language::French, FRENCH),
        (Language::Spanish, SPANISH),
        (Language::Japanese, JAPANESE),
    ];
    let all: usize = questions.iter().map(|(_, list)| list.len()).sum();
    assert!(all >= 60, "{all}");
    let mut wrong = Vec::new();
    for (language, list) in questions {
        let told = list.iter().map(|text| (*text, Language::of([*text])));
        wrong.extend(told.filter(|(_, told)| *told != language));
    }
    assert_eq!(wrong, []);
}

#[test]
fn language_of_what_was_found_is_taken_where_the_question_tells_none() {
    for (texts, language) in [
        (
            ["Minka?", "Minka wurde am 3. Mai geboren"],
            Language::German,
        ),
        (["Wi-Fi?", "合言葉は「さくら」"], Language::Japanese),
        (["Moustache", "Moustache"], Language::English),
        (["Où est Tom ?", "Tom is in the garden"], Language::French),
        // Of a language that has no phrases.
        (["Quanti anni ha Luna?", "Luna"], Language::English),
        (["Hoe oud is Minka?", "Minka"], Language::English),
    ] {
        assert_eq!(Language::of(texts), language, "{texts:?}");
    }
}
