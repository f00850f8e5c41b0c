ALTER TABLE runs ADD COLUMN accepted_seq INTEGER;
ALTER TABLE runs ADD COLUMN started_seq INTEGER;
ALTER TABLE runs ADD COLUMN started_ms INTEGER;
ALTER TABLE runs ADD COLUMN ended_seq INTEGER;
-- What was appended with the end, and where the message came from.
ALTER TABLE runs ADD COLUMN entries TEXT;
ALTER TABLE runs ADD COLUMN route TEXT;
UPDATE runs SET accepted_seq = ranked.place FROM
    (SELECT run_id, row_number() OVER (ORDER BY created_ms, run_id) AS place FROM runs) AS ranked
    WHERE ranked.run_id = runs.run_id;
DROP INDEX runs_by_time;
CREATE INDEX runs_by_seq ON runs (accepted_seq);
CREATE TABLE events (
    seq           INTEGER PRIMARY KEY,
    at_ms         INTEGER NOT NULL,
    agent_id      TEXT NOT NULL,
    session_key   TEXT NOT NULL,
    run_id        TEXT NOT NULL,
    facts         TEXT NOT NULL
);
CREATE TABLE event_series (
    number        INTEGER PRIMARY KEY CHECK (number = 1),
    epoch         TEXT NOT NULL,
    taken         INTEGER NOT NULL,
    pruned        INTEGER NOT NULL,
    first_run     INTEGER NOT NULL
);
INSERT INTO event_series (number, epoch, taken, pruned, first_run) VALUES (
    1, lower(hex(randomblob(8))),
    (SELECT count(*) FROM runs), (SELECT count(*) FROM runs),
    ifnull((SELECT min(accepted_seq) FROM runs WHERE ended_ms IS NULL),
           (SELECT count(*) + 1 FROM runs)));
