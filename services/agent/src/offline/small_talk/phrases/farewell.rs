//! Goodbyes.

use super::Said;
use crate::offline::language::Language::{English, French, German, Japanese, Spanish};

pub(super) const PHRASES: &[Said] = &[
    (
        English,
        &[
            "bye",
            "bye bye",
            "goodbye",
            "good bye",
            "good night",
            "see you",
            "see ya",
            "see you later",
            "see you soon",
            "see you tomorrow",
            "cya",
            "later",
            "talk to you later",
            "ttyl",
            "take care",
            "so long",
            "farewell",
            "have a nice day",
            "have a good day",
            "have a good one",
            "arrivederci",
            "tchau",
            "пока",
            "再见",
        ],
    ),
    (
        German,
        &[
            "tschüss",
            "tschüß",
            "tschau",
            "ade",
            "gute nacht",
            "auf wiedersehen",
            "bis bald",
            "bis später",
            "bis morgen",
            "bis dann",
            "schönen tag",
            "schönen abend",
        ],
    ),
    (
        French,
        &[
            "au revoir",
            "bonne nuit",
            "bonne journée",
            "bonne soirée",
            "à bientôt",
            "à plus",
            "à demain",
            "adieu",
        ],
    ),
    (
        Spanish,
        &[
            "adiós",
            "buenas noches",
            "hasta luego",
            "hasta mañana",
            "hasta pronto",
            "nos vemos",
            "chao",
        ],
    ),
    (
        Japanese,
        &[
            "さようなら",
            "さよなら",
            "おやすみ",
            "おやすみなさい",
            "またね",
            "じゃあね",
        ],
    ),
];
