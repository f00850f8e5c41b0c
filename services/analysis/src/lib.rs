//! From text to terms: what is written in a document and what is asked for
//! become the same term when they mean the same word.
//!
//! NFKC, words and their parts, case folding, stop words, Snowball stems,
//! diacritics, and bigrams where a script has no spaces. Stop words and stems
//! are worth 11 points of nDCG over plain words on conversations.

pub mod calendar;
mod change;
mod clauses;
mod detect;
mod doing;
mod fold;
mod intolerance;
mod kin;
mod language;
pub mod lexicon;
mod names;
mod owner;
mod phrases;
mod reference;
mod relation;
mod roots;
mod sought;
mod spaceless;
mod spoken;
mod stop_words;
mod terms;
mod traits;
mod word;
mod written;

pub use change::{tells_change, tells_successor};
pub use clauses::{clauses, question_alone};
pub use doing::is_doing;
pub use intolerance::{
    asks_of_intolerance, intolerance, is_beside_eating, is_eating, tells_intolerance,
};
pub use kin::{Kin, asked_kin, kin};
pub use language::{Language, Languages};
pub use names::{is_title, names};
pub use owner::{is_of_another, is_of_other_thing, is_ours, is_somebodys, names_thing, owners};
pub use reference::refers_back;
pub use relation::{Asked, Relation, asked_relations, is_spaceless, name_of};
pub use sought::{
    Role, Sought, is_row, is_row_of_another, names_one, sought, sought_words, tells_permission,
};
pub use spaceless::{is_inflected, is_sounded, is_staying, pairs, pieces, with_kana};
pub use spoken::spoken;
pub use stop_words::Same;
pub use terms::{
    Word, is_stop_word, language_among, language_of, runs, stem, terms, unaccented, words,
};
pub use traits::{Traits, asked, counts, facts, is_question, numbers, traits};
pub use written::Written;

#[cfg(test)]
mod tests;
