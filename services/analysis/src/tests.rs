mod days;

use super::*;

fn list(text: &str, language: Language) -> Vec<String> {
    let mut found = Vec::new();
    terms(text, language, |term| found.push(term.to_owned()));
    found
}

fn english(text: &str) -> Vec<String> {
    list(text, Language::English)
}

#[test]
fn words_of_one_stem_are_one_term_and_stop_words_none() {
    assert_eq!(english("The runners were running"), ["runner", "run"]);
    assert_eq!(english("Running the run"), ["run", "run"]);
    assert!(english("Who am I, and what is it?").is_empty());
    assert_eq!(
        english("don't touch the user's cat"),
        ["touch", "user", "cat"]
    );
}

#[test]
fn compatibility_forms_and_case_are_folded() {
    assert_eq!(english("ＦＵＬＬ ﬁle"), english("full file"));
    assert_eq!(english("Zürich"), english("Zurich"));
    assert_eq!(english("Zu\u{308}rich"), english("Zürich"));
    assert_eq!(
        list("Straße", Language::German),
        list("STRASSE", Language::German)
    );
}

#[test]
fn identifiers_and_paths_keep_the_whole_beside_the_parts() {
    assert_eq!(
        english("services/memory/main.rs"),
        ["services/memory/main.rs", "servic", "memori", "main", "rs"]
    );
    assert_eq!(
        english("loadBootstrap"),
        ["loadbootstrap", "load", "bootstrap"]
    );
    assert_eq!(english("HTTPServer"), ["httpserver", "http", "server"]);
    assert_eq!(
        english("max_open_files"),
        ["max_open_files", "max", "open", "file"]
    );
    assert_eq!(english("std::fs"), ["std::fs", "std", "fs"]);
    assert_eq!(
        english("https://example.org"),
        ["https", "example.org", "exampl", "org"]
    );
    assert_eq!(english("2026-03-04 14:32"), ["2026-03-04", "2026", "14:32"]);
}

#[test]
fn scripts_without_spaces_are_cut_in_bigrams() {
    assert_eq!(english("東京都 at 1"), ["東京", "京都", "1"]);
    assert_eq!(english("猫"), ["猫"]);
    assert_eq!(english("猫の名"), ["猫の", "の名", "猫", "名"]);
    assert_eq!(english("GPUメモリ"), ["gpu", "メモ", "モリ"]);
}

#[test]
fn language_is_known_by_its_stop_words() {
    assert_eq!(
        language_of("Ich habe die Wohnung nicht gemietet"),
        Language::German
    );
    assert_eq!(
        language_of("La clé est dans la boîte avec les autres"),
        Language::French
    );
    assert_eq!(
        language_of("El coche está en el taller desde ayer"),
        Language::Spanish
    );
    assert_eq!(language_of("The key is under the mat"), Language::English);
    assert_eq!(language_of("kernel 6.1"), Language::English);
    assert_eq!(
        list("Wohnungen", Language::German),
        list("der Wohnung", Language::German)
    );
}

/// In each language two forms of a word in texts of their own.
#[rustfmt::skip]
const FORMS: [(Language, &str, &str); 31] = [
    (Language::English, "She is baking the cakes", "how do you bake a cake"),
    (Language::German, "Ich habe die Wohnungen nicht gesehen", "wo ist meine Wohnung"),
    (Language::French, "Nous avons mangé dans les jardins", "le jardin est où"),
    (Language::Spanish, "No me gustan los perros de mi vecino", "el perro está aquí"),
    (Language::Italian, "Non ho ancora comprato i libri per la scuola", "dove sono il libro e la penna"),
    (Language::Portuguese, "Eu não tenho os cachorros em casa", "o cachorro é do meu pai, não é"),
    (Language::Dutch, "Ik heb de boeken niet in het huis", "waar is mijn boek, dat van mij"),
    (Language::Swedish, "Jag har inte sett bilarna på vägen", "var är min bil, som jag har"),
    (Language::Danish, "Jeg har ikke set bilerne på gaden, og det er ikke mig", "hvor er min bil nu"),
    (Language::Norwegian, "Jeg har ikke sett bilene på veien, og det er noe annet", "hvor er min bil nå, hva skjer"),
    (Language::Finnish, "Minä olen nähnyt talossa kissan, mutta se ei ole minun", "talosta se ei ole nyt"),
    (Language::Polish, "Nie mam jeszcze książki na jutro, ale będę je miał", "gdzie jest moja książka"),
    (Language::Hungarian, "A házakban nem volt senki, és ez nagyon jó", "hol van a ház, és ki az"),
    (Language::Romanian, "Nu am văzut casele din oraș, dar sunt acolo", "unde este casa și ce face"),
    (Language::Russian, "Я купил новые книги для своей сестры", "где моя книга и что это"),
    (Language::Turkish, "Evler çok güzel ama ben bunu istemiyorum", "ev nerede, bu ne kadar"),
    (Language::Arabic, "هذا هو الكتاب الذي في البيت", "أين كتاب من هذا"),
    (Language::Greek, "Δεν έχω δει τους δρόμους της πόλης", "πού είναι ο δρόμος"),
    (Language::Hindi, "मैं किताबें पढ़ रहा हूँ और यह अच्छी है", "किताब कहाँ है"),
    (Language::Tamil, "நான் வீடுகள் பற்றி ஒரு கதை", "வீடு என்ன"),
    (Language::Indonesian, "Saya membaca buku itu dan tidak akan lupa", "bacaan apa yang ada di sini"),
    (Language::Catalan, "No he vist els gats amb la meva germana, però són aquí", "on és el gat amb què"),
    (Language::Serbian, "Nisam video knjige, ali gde je to što sam kupio", "gde je moja knjiga, šta je to"),
    (Language::Lithuanian, "Aš nemačiau namų, bet jie yra labai gražūs", "kur yra mano namas"),
    (Language::Estonian, "Ma ei ole raamatuid näinud, aga need on minu omad", "kus on minu raamat ja mis see on"),
    (Language::Irish, "Tá na leabhair ar an mbord agus níl siad agam", "cá bhfuil an bord atá agam"),
    (Language::Basque, "Mendiak oso handiak dira eta ez dut inoiz ikusi", "non dago nire mendien, mendietan, zer da"),
    (Language::Armenian, "Ես քաղաքներում եմ և դա իմ համար է", "որտեղ է իմ քաղաքը"),
    (Language::Nepali, "मेरो किताबहरू घरमा छन् र यो राम्रो छ", "मेरो किताब कहाँ छ"),
    (Language::Yiddish, "איך האָב געזען די קינדער און עס איז גוט", "וואו איז דאָס קינד און ווער"),
    (Language::Esperanto, "Mi ne vidis la domojn kaj ili estas grandaj", "kie estas mia domo"),
];

#[test]
fn forms_of_a_word_meet_in_every_language() {
    let mut strange = Vec::new();
    for (language, text, question) in FORMS {
        let of = |text: &str| list(text, language);
        let common = of(text).iter().any(|term| of(question).contains(term));
        let told = [language_of(text), language_of(question)];
        if !common || told != [language; 2] {
            strange.push((language, told, of(text), of(question)));
        }
    }
    assert!(strange.is_empty(), "{strange:#?}");
}

#[test]
fn script_tells_where_no_word_does() {
    assert_eq!(language_of("Купить билеты"), Language::Russian);
    assert_eq!(language_of("Καλημέρα"), Language::Greek);
    assert_eq!(language_of("kernel 6.1 東京"), Language::English);
}

proptest::proptest! {
    #[test]
    fn analysis_any_text_is_analysed_in_any_language(
        text in proptest::prop_oneof!["\\PC{0,40}", "[a-zäöüßéçñøåžčşğ']{1,20}", "[а-яёљњћђ]{1,20}",
            "[α-ωάέήίόύώς]{1,20}", "[\u{600}-\u{6ff}]{1,20}", "[\u{900}-\u{97f}]{1,20}",
            "[\u{b80}-\u{bff}]{1,20}", "[\u{531}-\u{58f}]{1,20}", "[\u{590}-\u{5ff}]{1,20}"]
    ) {
        for language in Language::ALL {
            terms(&text, language, |term| assert!(!term.contains(' ')));
        }
    }
}

#[test]
fn encoded_data_is_no_term() {
    assert!(english(&"A1b2".repeat(40)).is_empty());
}

#[test]
fn questions_that_begin_with_was_are_told_by_the_next_word() {
    let languages = [Language::English, Language::German].into_iter().collect();
    let of = |text| language_among(text, languages);
    assert_eq!(of("Was webt Irmgard?"), Language::German);
    assert_eq!(of("Was the loom old?"), Language::English);
    assert_eq!(of("Was Irmgard there?"), Language::English);
}

#[test]
fn pairs_of_characters_are_found_with_an_ending_between() {
    assert!(with_kana("振込").contains(&"振り".to_owned()));
    assert!(with_kana("パス").is_empty());
}

#[test]
fn written_questions_ask_for_no_kind_after_a_short_is() {
    let written = Written::new("What's Ada's job?", Language::English);
    assert!(!written.kinds.contains("ada"));
    let written = Written::new("Why did I quit the gym?", Language::English);
    assert!(written.is_doing("quit", Language::English, true));
    let written = Written::new("Wie groß ist der Fernseher?", Language::German);
    assert!(written.sought.contains("gross"));
}

#[test]
fn asked_days_are_a_number_where_they_are_counted() {
    assert!(asked("有給はあと何日ある?").meets(Traits::NUMBER));
    assert!(!asked("Tous les combien ?").meets(Traits::MONEY));
    assert!(facts("父のシャツはLサイズ").meets(Traits::NUMBER));
}
