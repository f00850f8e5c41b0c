//! Whether something may be done.

use super::has;

/// How a question begins that asks whether something may be done, in lower case.
const MAY: &str = "can i|can we|may i|may we|am i allowed|are we allowed|is it allowed|is it ok|are dogs|are pets|darf ich|dürfen wir|\
    darf man|kann ich|können wir|kann man|ist es erlaubt|peut-on|puis-je|est-ce qu'on peut|est-ce qu’on peut|est-ce que je peux|\
    a-t-on le droit|¿se puede|¿puedo|¿podemos|¿está permitido|¿se permite|¿se admiten";
/// The same in Japanese, at the end.
const MAY_IN: [&str; 5] = ["てもいい", "でもいい", "できる", "大丈夫", "禁止"];
/// What says that something may, or may not, be done.
const ALLOWED: &str = "allowed|not allowed|permitted|forbidden|prohibited|no|only|never|welcome|erlaubt|verboten|untersagt|gestattet|kein|\
    keine|nur|nie|willkommen|autorisé|autorisés|interdit|interdite|interdits|admis|acceptés|refusés|refusé|pas|aucun|jamais|\
    permitido|permitida|permiten|prohibido|prohibida|admiten|no se|nunca|solo|禁止|不可|だめ|ダメ|できない|できます|可|けない";

/// Whether the question `text`, in lower case, asks whether something may be done.
pub(super) fn asks_permission(text: &str) -> bool {
    let start = text.trim_start();
    MAY.split('|').any(|way| start.starts_with(way)) || MAY_IN.iter().any(|way| text.contains(way))
}

/// Whether `sentence` says that something may, or may not, be done.
pub fn tells_permission(sentence: &str) -> bool {
    has(&sentence.to_lowercase(), ALLOWED)
}
