//! Whether a text says that something is no longer as it was.

use std::collections::HashSet;
use std::hash::BuildHasherDefault;
use std::sync::OnceLock;

use xxhash_rust::xxh3::xxh3_64;

use super::stop_words::Same;
use super::terms::{Word, words};
use super::traits::{Traits, facts};

/// Words that say so, in lower case.
const CHANGES: &str = "
now moved changed changes instead anymore postponed rescheduled corrected switched slipped cancelled canceled replaced replaces new successor
returned became raised lowered rises rose dropped brought reduced increased decreased
jetzt nun statt stattdessen verschoben verlegt geändert umgestellt umgezogen umgebucht abgesagt ersetzt übernimmt übernommen neu neue neuer
neuen neues steigt sinkt gestiegen gesunken vorgezogen vorverlegt nachfolger nachfolgerin zurückgebracht inzwischen mittlerweile künftig erhöht gewechselt wechselt zieht reduziert verringert herabgesetzt
désormais dorénavant maintenant repoussé repousse repoussée reporté reporte reportée déplacé déplace changé change changent augmente augmenté baisse baissé avancé avancée décalé décalée nouveau nouvelle
nouvel remplace remplacé remplacée annulé annulée déménagé déménage descendu descend monte monté diminué réduit rendu retard successeur dorénavant
ahora movido mueve movió cambiado cambió cambia cambian aplazado aplazó aplaza retrasado mudado mudó muda nuevo nueva nuevos sustituye
reemplaza cancelado cancelada devuelto pasan trasladado sube subió subido suben subieron baja bajó bajado adelanta adelantado adelantó";
/// What words begin with that say so, in lower case; none begins with another.
const BEGINNINGS: &str = "
doubl halved extended shorten swapped transferred relocat renamed reschedul postpon delayed raises raising lowering shifted
increas decreas upgrad downgrad rebook updated
verdoppel halbier verlängert verkürz verleg verschieb verschob gesenkt angehob erhöh senkt vertag umbenannt umgebucht
ausgetauscht gewechsel verringer
rallong raccourc déplac repouss décal avanc augment diminu rédui remplac transfér échang
duplicó dobla trasla aplaz retras adelant aument dismin reduc reempl sustit cambi alarg acort modific";
/// What says so of several words, or where words are not parted.
const PHRASES: [&str; 96] = [
    "no longer",
    "must move",
    "went up",
    "goes up",
    "gone up",
    "up to ",
    "went down",
    "goes down",
    "put up",
    "brought forward",
    "pushed back",
    "put back",
    "instead of",
    "rather than",
    "from next ",
    "statt wie",
    "nicht wie ",
    "auf einen anderen",
    "ab jetzt",
    "fällt künftig",
    "non plus",
    "et plus ",
    "montent à",
    "passent à",
    "passent au",
    "passera ",
    "y no ",
    "se muda",
    "ことになった",
    "に移",
    "上がる",
    "下がる",
    "値上げ",
    "値下げ",
    "前倒し",
    "繰り上",
    "takes over",
    "took over",
    "as of ",
    "starting ",
    "from now",
    "ab sofort",
    "ab nächste",
    "zieht um",
    "à partir d",
    "passe au ",
    "passe du ",
    "passe de ",
    "en lugar de",
    "prend sa place",
    "su sitio lo ",
    "早まる",
    "passe à ",
    "a partir de",
    "pasa a ",
    "pasa al ",
    "cambio de ",
    "changement",
    "change of ",
    "pasó a ",
    "月から",
    "日から",
    "後任",
    "異動",
    "nicht mehr",
    "au lieu de",
    "ne plus",
    "n'est plus",
    "en vez de",
    "ya no",
    "新しい",
    "になった",
    "変わっ",
    "変わり",
    "変更",
    "延期",
    "今は",
    "今後は",
    "back home",
    "se pasa a",
    "変え",
    "上がっ",
    "上がり",
    "下がっ",
    "下がり",
    "早まっ",
    "移っ",
    "切り替え",
    "減っ",
    "減り",
    "増え",
    "引っ越し",
    "預け直",
    "し直",
    "替わ",
    "替え",
];

/// Whether `text` says that something has changed.
pub fn tells_change(text: &str) -> bool {
    static WORDS: OnceLock<HashSet<u64, BuildHasherDefault<Same>>> = OnceLock::new();
    // By their hashes: every word of all that is found is looked up.
    let changes = WORDS.get_or_init(|| {
        let changes = CHANGES.split_whitespace();
        changes.map(|word| xxh3_64(word.as_bytes())).collect()
    });
    let mut tells = false;
    words(text, |word| {
        if let Word::Plain(word) = word {
            tells |= changes.contains(&xxh3_64(word.as_bytes())) || begins_as_a_change(word);
        }
    });
    let lower = text.to_lowercase();
    tells |= begins_on_a_day(&lower);
    tells || PHRASES.iter().any(|phrase| lower.contains(phrase))
}

/// Whether `word` begins as words do that tell of a change: "doubled", "verlegt".
fn begins_as_a_change(word: &str) -> bool {
    static BEGIN: OnceLock<Vec<&str>> = OnceLock::new();
    let known = BEGIN.get_or_init(|| {
        let mut all: Vec<&str> = BEGINNINGS.split_whitespace().collect();
        all.sort_unstable();
        all
    });
    // None begins with another, so that the one before the word is it, or none is.
    let after = known.partition_point(|beginning| *beginning <= word);
    after
        .checked_sub(1)
        .is_some_and(|at| word.starts_with(known[at]))
}

/// What stands before the day on which something begins.
const FROM: [&str; 6] = ["from ", "ab ", "seit ", "since ", "dès ", "desde "];

/// Whether `text`, in lower case, says from which day on something is so: "ab
/// Dezember".
fn begins_on_a_day(text: &str) -> bool {
    FROM.iter().any(|from| {
        text.match_indices(from).any(|(at, _)| {
            let is_word = !text[..at].ends_with(char::is_alphanumeric);
            let rest = text[at + from.len()..].split_whitespace();
            let next: Vec<&str> = rest.take(2).collect();
            is_word && facts(&next.join(" ")).meets(Traits::DATE.with(Traits::RELATIVE))
        })
    })
}

/// What says that somebody comes after somebody else.
const SUCCEEDS: [&str; 50] = [
    "handed over",
    "passed on to",
    "abgegeben",
    "übergeben",
    "a passé",
    "ha pasado",
    "ha dejado",
    "takes over",
    "took over",
    "taken over",
    "replaced by",
    "replaces",
    "replacing",
    "successor",
    "covers for",
    "stands in for",
    "fills in for",
    "steps in",
    "instead of",
    "übernimmt",
    "übernommen",
    "ersetzt",
    "nachfolger",
    "vertritt",
    "vertretung",
    "statt ",
    "abgelöst",
    "remplac",
    "prend sa place",
    "prend la place",
    "succède",
    "reprend",
    "à la place de",
    "sustitu",
    "reemplaz",
    "su sitio",
    "su puesto",
    "su lugar",
    "releva",
    "en lugar de",
    "cubre a",
    "後任",
    "代わり",
    "交代",
    "引き継",
    "に変わ",
    "担当になった",
    "の担当は",
    "代理",
    "後を継",
];

/// Whether `text` says that somebody comes after somebody else.
pub fn tells_successor(text: &str) -> bool {
    let lower = text.to_lowercase();
    SUCCEEDS.iter().any(|phrase| lower.contains(phrase))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_told_by_beginnings_of_which_none_begins_with_another() {
        let all: Vec<&str> = BEGINNINGS.split_whitespace().collect();
        for (at, one) in all.iter().enumerate() {
            let mut others = all.iter().enumerate().filter(|(other, _)| *other != at);
            assert!(others.all(|(_, other)| !other.starts_with(one)), "{one}");
        }
    }

    #[test]
    fn successors_are_told_in_every_language() {
        for text in [
            "Tom Barlow covers for Helen",
            "Gregor übernimmt die Kasse",
            "Mme Tissot est remplacée par M. Arnaud",
            "Damián se jubila, le sustituye Beatriz Cano",
            "大塚課長は異動、後任は神谷さん",
        ] {
            assert!(tells_successor(text), "{text}");
        }
        assert!(!tells_successor("Damián es el jefe de obra"));
    }

    #[test]
    fn changes_are_told_by_words_of_every_language() {
        for text in [
            "Elektro Lund moved the wallbox to Tuesday",
            "no longer at the Swan",
            "Das Training ist jetzt montags statt mittwochs",
            "Le Goff repousse le début des travaux",
            "La profesora ha movido el depósito",
            "作業は12月2日に変わった",
            "ab Dezember ist Rauch unser Steuerberater",
            "木下先生が産休、来月から有村先生",
            "Los ensayos pasan a los lunes",
            "鳩が二羽に減った",
            "Le loyer a diminué",
            "Doctor doubled the dose",
            "Las sevillanas se trasladan a los jueves",
            "le lundi et non plus le mercredi",
            "管理費が上がる",
        ] {
            assert!(tells_change(text), "{text}");
        }
        for text in ["I know her", "Die Statue im Park", "町内会の会費"] {
            assert!(!tells_change(text), "{text}");
        }
    }
}
