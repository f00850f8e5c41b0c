//! Words that say nothing of what a text is about, sorted by bytes.

/// English: Snowball's list, and what apostrophes leave over.
#[rustfmt::skip]
pub(super) const ENGLISH: [&str; 153] = [
    "a", "about", "above", "after", "again", "against", "all", "am", "an", "and", "any", "are",
    "aren", "as", "at", "be", "because", "been", "before", "being", "below", "between", "both",
    "but", "by", "can", "cannot", "could", "couldn", "d", "did", "didn", "do", "does", "doesn",
    "doing", "don", "down", "during", "each", "few", "for", "from", "further", "had", "hadn", "has",
    "hasn", "have", "haven", "having", "he", "her", "here", "hers", "herself", "him", "himself",
    "his", "how", "i", "if", "in", "into", "is", "isn", "it", "its", "itself", "just", "let", "ll",
    "m", "me", "more", "most", "mustn", "my", "myself", "no", "nor", "not", "now", "of", "off",
    "on", "once", "only", "or", "other", "ought", "our", "ours", "ourselves", "out", "over", "own",
    "re", "s", "same", "shan", "she", "should", "shouldn", "so", "some", "such", "t", "than",
    "that", "the", "their", "theirs", "them", "themselves", "then", "there", "these", "they",
    "this", "those", "through", "to", "too", "under", "until", "up", "us", "ve", "very", "was",
    "wasn", "we", "were", "weren", "what", "when", "where", "which", "while", "who", "whom", "why",
    "will", "with", "won", "would", "wouldn", "you", "your", "yours", "yourself", "yourselves",
];

/// German: Snowball's list, shortened to what is frequent.
#[rustfmt::skip]
pub(super) const GERMAN: [&str; 215] = [
    "aber", "alle", "allem", "allen", "aller", "alles", "als", "also", "am", "an", "ander",
    "andere", "anderem", "anderen", "anderer", "anderes", "auch", "auf", "aus", "bei", "bin", "bis",
    "bist", "da", "damit", "dann", "das", "dass", "dasselbe", "dazu", "dein", "deine", "deinem",
    "deinen", "deiner", "dem", "den", "denn", "der", "derer", "des", "dessen", "dich", "die",
    "dies", "diese", "dieselbe", "diesem", "diesen", "dieser", "dieses", "dir", "doch", "dort",
    "du", "durch", "ein", "eine", "einem", "einen", "einer", "eines", "einig", "einige", "einigem",
    "einigen", "einiger", "einmal", "er", "es", "etwas", "euch", "euer", "eure", "eurem", "euren",
    "für", "gegen", "gewesen", "hab", "habe", "haben", "hat", "hatte", "hatten", "hier", "hin",
    "hinter", "ich", "ihm", "ihn", "ihnen", "ihr", "ihre", "ihrem", "ihren", "ihrer", "ihres", "im",
    "in", "indem", "ins", "ist", "jede", "jedem", "jeden", "jeder", "jedes", "jene", "jenem",
    "jenen", "jener", "jetzt", "kann", "kein", "keine", "keinem", "keinen", "keiner", "können",
    "könnte", "machen", "man", "manche", "manchem", "manchen", "mancher", "mein", "meine", "meinem",
    "meinen", "meiner", "meines", "mich", "mir", "mit", "muss", "musste", "nach", "nicht", "nichts",
    "noch", "nun", "nur", "ob", "oder", "ohne", "sehr", "sein", "seine", "seinem", "seinen",
    "seiner", "seines", "selbst", "sich", "sie", "sind", "so", "solche", "solchem", "solchen",
    "solcher", "soll", "sollte", "sondern", "sonst", "um", "und", "uns", "unser", "unsere",
    "unserem", "unseren", "unter", "viel", "vom", "von", "vor", "wann", "war", "waren", "warst",
    "warum", "was", "weg", "weil", "weiter", "welche", "welchem", "welchen", "welcher", "welches",
    "wenn", "wer", "werde", "werden", "wie", "wieder", "will", "wir", "wird", "wirst", "wo",
    "wollen", "wollte", "während", "würde", "würden", "zu", "zum", "zur", "zwar", "zwischen",
    "über",
];

/// French: Snowball's list, shortened to what is frequent.
#[rustfmt::skip]
pub(super) const FRENCH: [&str; 124] = [
    "ai", "aie", "ait", "as", "au", "aura", "aurait", "aux", "avait", "avec", "avez", "avoir",
    "avons", "c", "ce", "cela", "ces", "cet", "cette", "ceux", "chez", "comme", "d", "dans", "de",
    "des", "donc", "du", "elle", "elles", "en", "es", "est", "et", "eu", "eux", "fait", "faut",
    "fut", "ici", "il", "ils", "j", "je", "l", "la", "le", "les", "leur", "leurs", "lui", "là", "m",
    "ma", "mais", "me", "mes", "moi", "mon", "même", "n", "ne", "ni", "nos", "notre", "nous", "on",
    "ont", "ou", "où", "par", "pas", "peu", "peut", "plus", "pour", "pourquoi", "qu", "quand",
    "que", "quel", "quelle", "quelles", "quels", "qui", "quoi", "s", "sa", "sans", "se", "sera",
    "serait", "ses", "si", "soit", "son", "sont", "sous", "sur", "t", "ta", "te", "tes", "toi",
    "ton", "toujours", "tous", "tout", "toute", "toutes", "tu", "un", "une", "vers", "vos", "votre",
    "vous", "y", "à", "ça", "étaient", "était", "été", "être",
];

/// Spanish: Snowball's list, shortened to what is frequent.
#[rustfmt::skip]
pub(super) const SPANISH: [&str; 139] = [
    "a", "al", "algo", "algunas", "algunos", "ante", "antes", "como", "con", "contra", "cual",
    "cuando", "cuándo", "cómo", "de", "del", "desde", "donde", "durante", "dónde", "e", "el",
    "ella", "ellas", "ellos", "en", "entre", "era", "eran", "eres", "es", "esa", "esas", "ese",
    "eso", "esos", "esta", "estaba", "estaban", "estado", "estamos", "estar", "estas", "este",
    "esto", "estos", "estoy", "está", "están", "fue", "fueron", "ha", "hace", "han", "has", "hasta",
    "hay", "he", "hemos", "la", "las", "le", "les", "lo", "los", "me", "mi", "mis", "mucho",
    "muchos", "muy", "más", "mí", "nada", "ni", "no", "nos", "nosotros", "nuestra", "nuestro", "o",
    "os", "otra", "otras", "otro", "otros", "para", "pero", "poco", "por", "porque", "que", "quien",
    "quienes", "quién", "qué", "se", "sea", "ser", "si", "sido", "sin", "sobre", "sois", "somos",
    "son", "soy", "su", "sus", "suya", "suyo", "sí", "también", "tanto", "te", "tenemos", "tener",
    "tengo", "ti", "tiene", "tienen", "toda", "todas", "todo", "todos", "tu", "tus", "tú", "un",
    "una", "uno", "unos", "usted", "ustedes", "vosotros", "y", "ya", "yo", "él",
];

#[cfg(test)]
mod tests {
    #[test]
    fn the_lists_can_be_searched_by_halving() {
        for list in [
            &super::ENGLISH[..],
            &super::GERMAN,
            &super::FRENCH,
            &super::SPANISH,
        ] {
            assert!(list.is_sorted());
        }
    }
}
