CREATE TABLE turns (
    run_id TEXT PRIMARY KEY REFERENCES runs (run_id) ON DELETE CASCADE, unit TEXT NOT NULL,
    cpu_ms INTEGER NOT NULL, memory_peak_bytes INTEGER NOT NULL, tasks_peak INTEGER NOT
    NULL, input_tokens INTEGER NOT NULL, output_tokens INTEGER NOT NULL, cost_usd REAL
) WITHOUT ROWID;
CREATE INDEX runs_by_time ON runs (created_ms);
