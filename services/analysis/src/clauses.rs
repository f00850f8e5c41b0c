//! Questions that ask for several things.

/// Words that join questions.
const JOINING: [&str; 7] = ["and", "und", "et", "y", "e", "sowie", "plus"];
/// What parts questions in scripts without spaces.
const MARKS: [char; 7] = ['?', '？', ';', '；', '、', '。', '¿'];

/// The clauses of `text`: what is between marks and between words that join. A
/// text that asks for one thing is one clause.
pub fn clauses(text: &str) -> Vec<String> {
    let mut clauses = Vec::new();
    for sentence in text.split(MARKS) {
        let mut open: Vec<&str> = Vec::new();
        for word in sentence.split_whitespace() {
            let bare = word
                .trim_matches(|c: char| !c.is_alphanumeric())
                .to_lowercase();
            if JOINING.contains(&bare.as_str()) {
                clauses.push(open.join(" "));
                open.clear();
            } else {
                open.push(word);
            }
        }
        clauses.push(open.join(" "));
    }
    clauses.retain(|clause| clause.contains(char::is_alphanumeric));
    clauses
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clauses_are_what_is_asked_for() {
        assert_eq!(
            clauses("Who is my doctor, and when is the appointment?"),
            ["Who is my doctor,", "when is the appointment"]
        );
        assert_eq!(
            clauses("鍵はどこ？家賃はいくらで、大家は誰ですか"),
            ["鍵はどこ", "家賃はいくらで", "大家は誰ですか"]
        );
        assert_eq!(clauses("Where is the key?").len(), 1);
        assert!(clauses("?!").is_empty());
    }
}
