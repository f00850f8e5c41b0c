DROP INDEX job_runs_by_job;
ALTER TABLE job_runs RENAME TO old_job_runs;
CREATE TABLE job_runs (number INTEGER PRIMARY KEY, job_id TEXT NOT NULL,
    run_id TEXT NOT NULL UNIQUE, planned_ms INTEGER, until_ms INTEGER,
    cause TEXT NOT NULL CHECK (cause IN ('schedule', 'catch-up', 'hand')), state TEXT NOT NULL
        CHECK (state IN ('due', 'started', 'ran', 'delivered', 'failed', 'skipped')),
    started_ms INTEGER, ended_ms INTEGER, entry TEXT NOT NULL DEFAULT '');
INSERT OR IGNORE INTO job_runs (number, job_id, run_id, cause, state, started_ms, ended_ms, entry)
    SELECT number, job_id, ifnull(run_id, 'earlier:' || number), 'hand',
        CASE WHEN json_extract(entry, '$.status') IS NOT 'ok' THEN 'failed'
            WHEN json_extract(entry, '$.delivered') THEN 'delivered' ELSE 'ran' END,
        json_extract(entry, '$.runAtMs'), ended_ms, entry
    FROM old_job_runs WHERE json_valid(entry) ORDER BY number;
DROP TABLE old_job_runs;
INSERT OR IGNORE INTO job_runs (job_id, run_id, planned_ms, until_ms, cause, state, started_ms)
    SELECT job_id, 'cron:' || job_id || ':' || at, at, at, 'schedule', 'started', at
    FROM (SELECT job_id, json_extract(job, '$.state.runningAtMs') AS at FROM jobs
          WHERE json_valid(job)) WHERE at IS NOT NULL;
CREATE UNIQUE INDEX job_runs_by_time ON job_runs (job_id, planned_ms);
CREATE INDEX job_runs_by_job ON job_runs (job_id, number);
CREATE INDEX open_job_runs ON job_runs (number) WHERE ended_ms IS NULL;
CREATE INDEX jobs_by_time ON jobs (next_ms) WHERE next_ms IS NOT NULL;
