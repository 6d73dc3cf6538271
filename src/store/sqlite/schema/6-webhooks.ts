/**
 * Webhooks and their delivery logs. `lease_holder` names the process that delivers a webhook. The
 * number of an attempt is the value of `last_attempt` after it was added.
 */
export const webhooks = `
  CREATE TABLE webhooks (
    id                  TEXT    PRIMARY KEY,
    name                TEXT    NOT NULL,
    url                 TEXT    NOT NULL,
    filter              TEXT    NOT NULL,
    secret              TEXT    NOT NULL,
    previous_secret     TEXT,
    previous_expires_at INTEGER,
    created_at          INTEGER NOT NULL,
    state               TEXT    NOT NULL CHECK (state IN ('active', 'paused', 'disabled')),
    state_reason        TEXT,
    version             INTEGER NOT NULL,
    replays             INTEGER NOT NULL CHECK (replays >= 0),
    cursor_epoch        TEXT    NOT NULL,
    cursor_seq          INTEGER NOT NULL CHECK (cursor_seq >= 0),
    failures            INTEGER NOT NULL CHECK (failures >= 0),
    failing_since       INTEGER,
    next_attempt_at     INTEGER NOT NULL,
    last_attempt        INTEGER NOT NULL DEFAULT 0,
    lease_holder        TEXT
  ) STRICT;

  CREATE TABLE webhook_attempts (
    webhook_id  TEXT    NOT NULL REFERENCES webhooks ON DELETE CASCADE,
    number      INTEGER NOT NULL,
    at          INTEGER NOT NULL,
    message_id  TEXT    NOT NULL,
    first_seq   INTEGER NOT NULL,
    last_seq    INTEGER NOT NULL,
    changes     INTEGER NOT NULL,
    duration_ms INTEGER NOT NULL,
    status      INTEGER,
    error       TEXT,
    answer      TEXT    NOT NULL,
    PRIMARY KEY (webhook_id, number)
  ) STRICT;
  `;
