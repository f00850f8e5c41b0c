-- How confined commands were when they were given.
-- Since version 12. What was allowed for good before says nothing of it, and is asked about
-- again; it stays in its list. A command of a job is noted with its first run.
ALTER TABLE approvals ADD COLUMN terms TEXT NOT NULL DEFAULT '';
ALTER TABLE command_grants ADD COLUMN terms TEXT NOT NULL DEFAULT '';
CREATE TABLE command_terms (
    job_id TEXT NOT NULL, command TEXT NOT NULL, terms TEXT NOT NULL, noted_ms INTEGER NOT
    NULL, PRIMARY KEY (job_id, command)
) WITHOUT ROWID;
