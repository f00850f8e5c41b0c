//! How somebody asks who it is.

use super::Said;
use crate::offline::language::Language::{English, French, German, Japanese, Spanish};

pub(super) const PHRASES: &[Said] = &[
    (
        English,
        &[
            "who are you",
            "who r u",
            "what are you",
            "who is this",
            "who is there",
            "who am i talking to",
            "who am i speaking to",
            "what's your name",
            "what is your name",
            "do you have a name",
            "tell me about yourself",
            "introduce yourself",
            "are you a bot",
            "are you a robot",
            "are you human",
            "are you a human",
            "are you an ai",
            "are you real",
            "are you chatgpt",
            "are you claude",
            "what is this",
            "what model are you",
            "which model are you",
            "what is openclaw",
            "what's openclaw",
        ],
    ),
    (
        German,
        &[
            "wer bist du",
            "was bist du",
            "wer sind sie",
            "wie heißt du",
            "wie ist dein name",
            "was ist dein name",
            "was ist das",
            "stell dich vor",
            "bist du ein mensch",
            "bist du ein bot",
            "was ist openclaw",
        ],
    ),
    (
        French,
        &[
            "qui es-tu",
            "tu es qui",
            "qui êtes-vous",
            "comment t'appelles-tu",
            "comment tu t'appelles",
            "quel est ton nom",
            "présente-toi",
        ],
    ),
    (
        Spanish,
        &[
            "quién eres",
            "quién es usted",
            "qué eres",
            "cómo te llamas",
            "cuál es tu nombre",
            "preséntate",
        ],
    ),
    (
        Japanese,
        &[
            "あなたは誰ですか",
            "あなたは誰",
            "誰ですか",
            "君は誰",
            "お名前は",
            "名前は",
        ],
    ),
];
