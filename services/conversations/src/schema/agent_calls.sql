-- What agents did of which they may only do so much.
-- Since version 11. A row is of one thing that an agent did; those that count no more
-- are removed with the next one.
CREATE TABLE agent_calls (
    number INTEGER PRIMARY KEY, agent_id TEXT NOT NULL, at_ms INTEGER NOT NULL
);
CREATE INDEX agent_calls_by_agent ON agent_calls (agent_id, at_ms);
