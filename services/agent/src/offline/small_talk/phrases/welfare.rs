//! How somebody asks how it is.

use super::Said;
use crate::offline::language::Language::{English, French, German, Japanese, Spanish};

pub(super) const PHRASES: &[Said] = &[
    (
        English,
        &[
            "how are you",
            "how r u",
            "how are u",
            "how are you doing",
            "how do you do",
            "how are things",
            "how is it going",
            "how's it going",
            "how goes it",
            "how have you been",
            "are you ok",
            "are you well",
            "what's up",
            "what is up",
            "wassup",
            "whats new",
            "what's new",
            "how do you feel",
            "how is your day",
            "how's your day",
            "come stai",
            "tudo bem",
            "как дела",
        ],
    ),
    (
        German,
        &[
            "wie geht's",
            "wie geht es",
            "wie geht es dir",
            "wie geht's dir",
            "wie gehts",
            "wie geht es ihnen",
            "alles klar",
            "alles gut",
            "was geht",
            "na",
        ],
    ),
    (
        French,
        &[
            "ça va",
            "comment ça va",
            "comment vas-tu",
            "comment allez-vous",
            "tu vas bien",
            "quoi de neuf",
        ],
    ),
    (
        Spanish,
        &[
            "cómo estás",
            "cómo está usted",
            "cómo te va",
            "cómo va",
            "qué pasa",
        ],
    ),
    (
        Japanese,
        &["元気", "元気ですか", "お元気ですか", "調子はどう"],
    ),
];
