CREATE TABLE hand_ins (
    channel TEXT NOT NULL, account TEXT NOT NULL, key TEXT NOT NULL, outcome TEXT NOT NULL,
    at_ms INTEGER NOT NULL, PRIMARY KEY (channel, account, key)
) WITHOUT ROWID;
CREATE INDEX hand_ins_by_time ON hand_ins (at_ms);
CREATE TABLE channel_requests (
    channel TEXT NOT NULL, account TEXT NOT NULL, peer TEXT NOT NULL, code TEXT NOT NULL
    UNIQUE, name TEXT NOT NULL, created_ms INTEGER NOT NULL, PRIMARY KEY (channel, account,
    peer)
) WITHOUT ROWID;
CREATE TABLE channel_peers (
    channel TEXT NOT NULL, account TEXT NOT NULL, peer TEXT NOT NULL, name TEXT NOT NULL,
    is_owner INTEGER NOT NULL, approved_ms INTEGER NOT NULL, PRIMARY KEY (channel, account,
    peer)
) WITHOUT ROWID;
ALTER TABLE outbox ADD COLUMN extras TEXT NOT NULL DEFAULT '';
-- Where the files of extras are, beneath the agent's workspace.
ALTER TABLE outbox ADD COLUMN paths TEXT NOT NULL DEFAULT '';
