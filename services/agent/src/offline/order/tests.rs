use super::*;

#[test]
fn order_says_what_is_to_be_kept() {
    for (message, text) in [
        (
            "remember that the spare key is under the blue flowerpot",
            "the spare key is under the blue flowerpot",
        ),
        (
            "Remember: the alarm code is 4711.",
            "the alarm code is 4711.",
        ),
        (
            "Please remember, Ada is allergic to nuts!",
            "Ada is allergic to nuts!",
        ),
        ("remember to buy milk", "buy milk"),
        (
            "Hello! Please remember this: bin day is Friday",
            "bin day is Friday",
        ),
        (
            "remember this song is Tom's favourite",
            "this song is Tom's favourite",
        ),
        (
            "remember \"Blue Door\" is the café's name",
            "\"Blue Door\" is the café's name",
        ),
        (
            "Remember where I parked: level 3, bay 12",
            "where I parked: level 3, bay 12",
        ),
        (
            "remember that when the alarm rings, 3 stops it",
            "when the alarm rings, 3 stops it",
        ),
        ("remember my shoe size is 43, ok?", "my shoe size is 43"),
        (
            "note that the meeting moved to 8:15",
            "the meeting moved to 8:15",
        ),
        ("Note: ask for the blue form", "ask for the blue form"),
        (
            "make a note of Max's number, 0151 234",
            "Max's number, 0151 234",
        ),
        (
            "don't forget that Oma's birthday is 3 May",
            "Oma's birthday is 3 May",
        ),
        ("Keep in mind I don't eat fish", "I don't eat fish"),
        ("MEMO: 12 eggs", "12 eggs"),
        ("remember:\n- milk\n- eggs", "milk\n- eggs"),
        (
            "merke dir, dass der Ersatzschlüssel unter dem Topf liegt",
            "der Ersatzschlüssel unter dem Topf liegt",
        ),
        (
            "Merk dir bitte: Tims Lehrer heißt Herr Koch.",
            "Tims Lehrer heißt Herr Koch.",
        ),
        (
            "Notiere: die Mülltonne kommt dienstags",
            "die Mülltonne kommt dienstags",
        ),
        ("notiere dir mal die Nummer 0151 234", "die Nummer 0151 234"),
        (
            "Vergiss nicht, dass Oma am 3. Mai Geburtstag hat",
            "Oma am 3. Mai Geburtstag hat",
        ),
        (
            "Merk dir, wo das Auto steht: Ebene 3",
            "wo das Auto steht: Ebene 3",
        ),
        (
            "Souviens-toi que la clé est sous le pot",
            "la clé est sous le pot",
        ),
        (
            "souviens-toi qu'Ada n’aime pas le thé",
            "Ada n’aime pas le thé",
        ),
        (
            "S'il te plaît, note que le code est 4711",
            "le code est 4711",
        ),
        (
            "Note bien : le plombier vient mardi",
            "le plombier vient mardi",
        ),
        ("N’oublie pas d’acheter du lait", "acheter du lait"),
        (
            "recuerda que la llave está debajo de la maceta",
            "la llave está debajo de la maceta",
        ),
        (
            "Acuérdate de que Pilar no come pescado",
            "Pilar no come pescado",
        ),
        ("Por favor, anota: el código es 4711", "el código es 4711"),
        ("Apunta esto: cita el martes", "cita el martes"),
        ("no te olvides de comprar leche, ¿vale?", "comprar leche"),
        ("覚えて：鍵は植木鉢の下", "鍵は植木鉢の下"),
        (
            "覚えておいてください。鍵は植木鉢の下です。",
            "鍵は植木鉢の下です。",
        ),
        ("メモ：歯医者は火曜日", "歯医者は火曜日"),
        ("鍵は植木鉢の下にあると覚えておいて", "鍵は植木鉢の下にある"),
        ("暗証番号は4711だってメモしてください。", "暗証番号は4711だ"),
        ("牛乳を買うのを忘れないでね！", "牛乳を買う"),
    ] {
        assert_eq!(kept(message), Some(text), "{message}");
    }
}

#[test]
fn question_is_no_order() {
    for message in [
        "do you remember where the key is?",
        "remember when we went to Paris?",
        "Remember when we went to Paris",
        "remember where the key is",
        "remember the time we missed the train",
        "remember that time in Rome, when it rained",
        "remember? the key",
        "Remember me?",
        "Can you remember that I like tea?",
        "Remember what I said at 8:15",
        "what should I remember?",
        "I remember that the key is here",
        "remembering is hard",
        "note from the doctor",
        "notes about the garden",
        "Hello! That was nice. Remember x",
        "remember",
        "please remember:",
        "Remember that...",
        "Erinnerst du dich, wo der Schlüssel ist?",
        "Weißt du noch, wo wir waren?",
        "merk dir, was ich gestern sagte",
        "Merkst du dir etwas?",
        "schreib auf Deutsch",
        "Schreib auf",
        "Tu te souviens où est la clé ?",
        "souviens-toi de quoi on a parlé",
        "souviens-toi où est la clé",
        "note de frais de mars",
        "¿Recuerdas dónde está la llave?",
        "¿recuerda usted el código?",
        "recuerda dónde está la llave",
        "la nota del médico",
        "鍵がどこにあるか覚えている？",
        "鍵がどこにあるか覚えて",
        "鍵はどこ？",
        "覚えていますか",
        "覚えて",
        "memo",
        "",
    ] {
        assert_eq!(kept(message), None, "{message}");
    }
}
