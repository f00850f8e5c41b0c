#![allow(clippy::print_stdout, clippy::unwrap_used)]
use openclaw_retrieval::{Choice, Options, Ranking, evaluation::*};
fn main() {
    let mut all = Vec::new();
    let get = |k: &str, d: f64| {
        std::env::var(k)
            .ok()
            .and_then(|v| v.parse().ok())
            .unwrap_or(d)
    };
    let mut ranking = Ranking::default();
    ranking.mmr_lambda = get("MMR", 0.7);
    ranking.decay_floor = get("FLOOR", 0.9);
    let w = &mut ranking.weights;
    w.text = get("T", w.text);
    w.window = get("W", w.window);
    w.session = get("S", w.session);
    w.vector = get("V", w.vector);
    w.vector_window = get("VW", w.vector_window);
    w.speaker = get("SP", w.speaker);
    let minilm = std::env::var("MINILM").ok().map(Into::into);
    let embedder = if minilm.is_some() {
        Choice::MiniLm
    } else if std::env::var("NONE").is_ok() {
        Choice::None
    } else {
        Choice::Static
    };
    for path in std::env::args().skip(1) {
        let set = Set::read(path.as_ref()).unwrap();
        let folder = std::env::temp_dir().join(format!("quick-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        let settings = Settings {
            options: Options {
                table: Some("/work/shared/model".into()),
                minilm: minilm.clone(),
            },
            embedder: embedder.clone(),
            ranking,
        };
        all.extend(set.run(&folder, &settings, || ()).unwrap());
        let _ = std::fs::remove_dir_all(&folder);
    }
    let r = Report::new(&all);
    let f = |i: &Interval| format!("{:.2} [{:.1},{:.1}]", i.mean, i.low, i.high);
    println!(
        "R5 {} R10 {} nDCG {} MRR {} p50 {:.3} p99 {:.3}",
        f(&r.all.recall_at_5),
        f(&r.all.recall_at_10),
        f(&r.all.ndcg_at_10),
        f(&r.all.mrr_at_10),
        r.p50_ms,
        r.p99_ms
    );
}
