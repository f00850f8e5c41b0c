//! Lines for the shell: any text is judged without a crash, and of what is
//! judged to be simple commands bash and dash run exactly those words.
#![no_main]

use libfuzzer_sys::{Corpus, fuzz_target};

#[path = "../../../services/tools/tests/tools/commands/shells.rs"]
mod shells;

/// Longer lines say nothing new and take long, in bytes.
const LONGEST: usize = 256;

fuzz_target!(|line: &str| -> Corpus {
    // By its mark a line would count itself among what the shell traces.
    if line.len() > LONGEST || line.contains(shells::TRACE.trim_end()) {
        return Corpus::Reject;
    }
    shells::compare(line);
    Corpus::Keep
});
