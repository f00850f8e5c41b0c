//! Thanks.

use super::Said;
use crate::offline::language::Language::{English, French, German, Japanese, Spanish};

pub(super) const PHRASES: &[Said] = &[
    (
        English,
        &[
            "thanks",
            "thank you",
            "thank u",
            "thx",
            "thanx",
            "ty",
            "tysm",
            "cheers",
            "many thanks",
            "much appreciated",
            "much obliged",
            "i appreciate it",
            "that helps",
            "that helped",
            "that was helpful",
            "well done",
            "good job",
            "good work",
            "nice work",
            "great job",
            "grazie",
            "obrigado",
            "obrigada",
            "dank je",
            "dank u",
            "tack",
            "takk",
            "tak",
            "dziękuję",
            "kiitos",
            "teşekkürler",
            "спасибо",
            "дякую",
            "谢谢",
            "謝謝",
            "감사합니다",
        ],
    ),
    (
        German,
        &[
            "danke",
            "danke schön",
            "dankeschön",
            "vielen dank",
            "besten dank",
            "herzlichen dank",
            "merci vielmals",
            "gut gemacht",
        ],
    ),
    (
        French,
        &["merci", "merci beaucoup", "mille mercis", "bien joué"],
    ),
    (
        Spanish,
        &["gracias", "muchas gracias", "mil gracias", "bien hecho"],
    ),
    (
        Japanese,
        &[
            "ありがとう",
            "ありがとうございます",
            "ありがとうございました",
            "どうもありがとう",
            "どうも",
        ],
    ),
];
