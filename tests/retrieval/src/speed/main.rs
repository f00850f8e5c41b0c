//! Measures indexing and searching: `cargo run --release -p
//! retrieval-evaluation --bin retrieval-speed`, with `-- --chunks N --shape notes|messages` for one size.
//!
//! The words are made up and as frequent as words are (Zipf's law), half of
//! them English stop words; notes have passages of about 1,500 characters,
//! conversations messages of 140. Searches are made one after the other in one
//! thread, each with another question of three to eight words.

#![allow(clippy::print_stdout)]

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use openclaw_retrieval::{Engine, Options, Query};

mod corpus;
mod machine;

use corpus::{Corpus, Shape};

/// What a keyword search of zeroclaw took with 10,000 entries, measured on the
/// same kind of machine; in milliseconds.
const ZEROCLAW_MS: f64 = 13.9;
/// Searches of one measurement.
const SEARCHES: usize = 1000;
/// Documents put at once, as the daemon does.
const BATCH: usize = 64;

/// The most a search may take at half and at 99 of 100 searches, by passages;
/// in milliseconds.
const TARGETS: [(usize, f64, f64); 2] = [(10_000, 2.0, 10.0), (100_000, 8.0, 25.0)];
/// The most indexing 100,000 passages may take, and in how much memory.
const INDEXING: (Duration, u64) = (Duration::from_secs(60), 200 << 20);

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (sizes, shapes) = match wanted(&arguments) {
        Ok(wanted) => wanted,
        Err(problem) => {
            println!("{problem}\nusage: [--chunks N] [--shape notes|messages]");
            return ExitCode::from(64);
        }
    };
    println!("{}", machine::facts());
    for shape in shapes {
        for &chunks in &sizes {
            if let Err(error) = measure(chunks, shape) {
                println!("{shape:?}, {chunks}: {error}");
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::SUCCESS
}

fn wanted(arguments: &[String]) -> Result<(Vec<usize>, Vec<Shape>), String> {
    let (mut sizes, mut shapes) = (vec![10_000, 100_000], vec![Shape::Notes, Shape::Messages]);
    for pair in arguments.chunks(2) {
        match pair {
            [name, value] if name == "--chunks" => {
                sizes = vec![value.parse().map_err(|_| format!("{value} is no number"))?];
            }
            [name, value] if name == "--shape" => {
                let shape = Shape::named(value).ok_or(format!("there is no shape {value}"))?;
                shapes = vec![shape];
            }
            other => return Err(format!("unknown: {}", other.join(" "))),
        }
    }
    Ok((sizes, shapes))
}

fn measure(chunks: usize, shape: Shape) -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let table = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../packaging/share/embedding");
    let options = Options { table: Some(table) };
    machine::forget_peak();
    let (engine, _) = Engine::open(folder.path(), options.clone())?;
    let mut corpus = Corpus::new(shape);
    let mut indexing = Duration::ZERO;
    while engine.status().passages < chunks {
        let documents = corpus.documents(BATCH, chunks - engine.status().passages);
        let begin = Instant::now();
        engine.put(&documents)?;
        indexing += begin.elapsed();
    }
    let passages = engine.status().passages;
    println!(
        "{shape:?}, {passages} passages: indexed in {:.1} s, memory at most {} MB, {} MB on disk",
        indexing.as_secs_f64(),
        machine::peak() >> 20,
        engine.status().size >> 20,
    );
    if passages >= 100_000 {
        verdict(
            "indexing",
            indexing <= INDEXING.0 && machine::peak() <= INDEXING.1,
        );
    }
    search(&engine, &mut corpus, passages)?;
    engine.flush()?;
    drop(engine);
    let begin = Instant::now();
    let (engine, _) = Engine::open(folder.path(), options)?;
    let opened = begin.elapsed();
    engine.search(&Query::new(corpus.question(), 0))?;
    engine.release();
    println!(
        "  opened again in {:.0} ms, memory then {:.1} MB",
        opened.as_secs_f64() * 1e3,
        machine::proportional() as f64 / f64::from(1 << 20)
    );
    Ok(())
}

fn search(
    engine: &Engine,
    corpus: &mut Corpus,
    passages: usize,
) -> Result<(), Box<dyn std::error::Error>> {
    let (mut latencies, mut processor) = (Vec::new(), Vec::new());
    for _ in 0..SEARCHES {
        let query = Query::new(corpus.question(), corpus.now_ms());
        let (begin, before) = (Instant::now(), machine::processor_ms());
        engine.search(&query)?;
        latencies.push(begin.elapsed().as_secs_f64() * 1e3);
        processor.push(machine::processor_ms() - before);
    }
    let (p50, p99) = percentiles(&mut latencies);
    println!(
        "  search p50 {p50:.2} ms, p99 {p99:.2} ms (zeroclaw, 10,000, keywords only: {ZEROCLAW_MS} ms)"
    );
    let mean = processor.iter().sum::<f64>() / SEARCHES as f64;
    println!("  processor time of a search, mean: {mean:.2} ms");
    let target = TARGETS.iter().find(|(size, ..)| passages <= size * 11 / 10);
    if let Some(&(_, most_p50, most_p99)) = target {
        verdict("search", p50 <= most_p50 && p99 <= most_p99);
    }
    Ok(())
}

fn percentiles(values: &mut [f64]) -> (f64, f64) {
    values.sort_unstable_by(f64::total_cmp);
    (values[values.len() / 2], values[values.len() * 99 / 100])
}

fn verdict(what: &str, met: bool) {
    println!("  target of {what}: {}", if met { "met" } else { "MISSED" });
}
