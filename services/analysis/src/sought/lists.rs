//! The words that tell a place, a colour and the like, between bars, in lower case.

/// Before where something is.
pub(super) const PLACES: &str = "in|on|at|under|behind|beside|near|next to|inside|above|below|beneath|between|from|into|onto|by|outside|\
    upstairs|downstairs|im|ins|auf|unter|hinter|neben|bei|beim|vor|über|zwischen|aus|nach|ab|vom|zum|zur|von|oben|unten|\
    hotel|hostel|gasthof|gasthaus|pension|ferienwohnung|campingplatz|airbnb|cabin|cottage|lodge|guesthouse|restaurant|auberge|gîte|hôtel|\
    camping|hostal|albergue|cabaña|posada|dans|sur|sous|à|au|aux|chez|derrière|devant|en|près|entre|côté|sobre|debajo|bajo|detrás|junto|cerca|al|dentro|encima";
/// The same, in languages other than English, where they say something else.
pub(super) const OTHER_PLACES: &str = "am|an|a";
/// In the name of where something takes place, in Japanese.
pub(super) const SITES: &str = "駅|公園|店|室|館|町|市|区|「|ホール|ホテル|寺|神社|学校|校|園|会場|の前|の中|の上|の下|の横|の隣|階|家|屋|城|湖|海|山";
/// Before why something is.
pub(super) const REASONS: &str = "because|since|due|so that|for|otherwise|cause|caused|weil|da|denn|wegen|damit|sonst|aufgrund|deshalb|\
    parce|car|cause|puisque|faute|pour|suite|afin|porque|por|pues|ya que|debido|para|から|ため|ので|せい|理由";
/// What says that something is called so.
pub(super) const NAMING: &str = "named|called|name|names|nickname|heißt|heisst|heißen|namens|genannt|s'appelle|s’appelle|appelé|appelée|\
    nom|prénom|llama|llaman|llamado|llamada|nombre|名前|という|と呼";
pub(super) const COLOURS: &str = "red|blue|green|yellow|black|white|grey|gray|brown|orange|pink|purple|violet|beige|silver|golden|turquoise|\
    cream|navy|rot|blau|grün|gelb|schwarz|weiß|weiss|grau|braun|rosa|lila|violett|silbern|türkis|rouge|bleu|bleue|vert|verte|\
    jaune|noir|noire|blanc|blanche|gris|grise|marron|rose|rojo|roja|azul|verde|amarillo|amarilla|negro|negra|blanco|blanca|\
    morado|naranja|ginger|tabby|auburn|blonde|blond|brunette|maroon|crimson|teal|ivory|khaki|dunkelblau|hellblau|dunkelgrün|\
    hellgrün|creme|anthrazit|blond|rötlich|getigert|roux|rousse|tigré|châtain|blonde|crème|bordeaux|kaki|doré|argenté|écru|pelirrojo|\
    rubio|rubia|castaño|atigrado|granate|celeste|dorado|plateado|crema|crudo|水色|金|銀|オレンジ|ピンク|ベージュ|三毛|茶トラ|クリーム|赤|青|緑|黄|黒|白|灰|茶色|紫|紺";
/// Before the name of a colour that is none of these: `paint: "Stone 4"`.
pub(super) const PAINTS: &str =
    "paint|colour|color|shade|farbe|wandfarbe|couleur|teinte|peinture|pintura|tono|色";
pub(super) const WEIGHTS: &str = "kg|kilo|kilos|kilogram|kilograms|g|gram|grams|gramm|grammes|gramos|pound|pounds|lb|lbs|stone|oz|t|tonnes|tons|pfund|\
    キロ|グラム";
pub(super) const SIZES: &str = "zoll|pouces|pulgadas|m|cm|mm|km|metre|metres|meter|meters|meters|centimetres|feet|foot|ft|inch|inches|zentimeter|mètre|mètres|\
    centimètres|metro|metros|centímetros|センチ|メートル";
/// How long something takes, after a number.
pub(super) const TIMES: &str = "minute|minutes|min|hour|hours|h|day|days|week|weeks|month|months|year|years|pages|minuten|stunde|stunden|tag|\
    tage|tagen|woche|wochen|monat|monate|monaten|jahr|jahre|jahren|seiten|heure|heures|jour|jours|semaine|semaines|mois|an|ans|pages";
/// What says how old somebody is beside a number,
pub(super) const AGES: &str = "year|years|old|aged|age|months old|jahr|jahre|jahren|alt|ans|1 an|un an|âge|año|años|edad|歳|才";
/// and since when, beside a year.
pub(super) const BIRTHS: &str = "born|birth|birthday|geboren|geburtstag|geb|né|née|naissance|anniversaire|nació|nacido|nacida|cumpleaños|生まれ|誕生";
pub(super) const TRADES: &str = "works|work|worked|job|arbeitet|beruf|angestellt|travaille|métier|trabaja|profesión|empleada|empleado|勤め|働|仕事|をして|師|士|店員|社員|\
    drives|teaches|runs|sells|repairs|fährt|unterrichtet|leitet|enseigne|conduit|enseña|conduce";
/// People without their names.
pub(super) const PEOPLE: &str = "he|she|mother|mom|mum|father|dad|sister|brother|aunt|uncle|grandma|grandpa|granny|wife|husband|neighbour|\
    neighbor|friend|colleague|boss|er|sie|mutter|mama|vater|papa|schwester|bruder|tante|onkel|oma|opa|frau|mann|nachbar|\
    nachbarin|freund|freundin|kollege|kollegin|mère|père|maman|sœur|soeur|frère|tante|oncle|mamie|papi|femme|mari|voisin|voisine|\
    ami|amie|collègue|madre|padre|hermana|hermano|tía|tío|abuela|abuelo|mujer|marido|vecino|vecina|amigo|amiga|compañero";
/// What stands between something and what it is called, in lower case.
pub(super) const BETWEEN: [&str; 53] = [
    "is", "are", "was", "our", "my", "the", "mr", "mrs", "ms", "dr", "new", "ist", "sind", "war",
    "wird", "unser", "unsere", "mein", "meine", "der", "die", "das", "frau", "herr", "mag", "von",
    "est", "sont", "sera", "notre", "mon", "ma", "le", "a", "an", "ein", "eine", "einen", "un",
    "une", "una", "la", "m", "mme", "es", "son", "será", "era", "nuestro", "nuestra", "mi", "el",
    "s",
];
