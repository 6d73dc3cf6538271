/**
 * Step 8: webhooks and their delivery logs. `lease_holder` names the instance that delivers a
 * webhook, until `lease_until`. The number of an attempt is the value of `last_attempt` after it was
 * added. Earlier code neither reads nor writes these tables. No index includes a column that
 * deliveries change, so that their updates stay within a page.
 */
export const webhooks = `
  CREATE TABLE webhooks (
    id                  text PRIMARY KEY,
    name                text NOT NULL,
    url                 text NOT NULL,
    filter              text NOT NULL,
    secret              text NOT NULL,
    previous_secret     text,
    previous_expires_at int8,
    created_at          int8 NOT NULL,
    state               text NOT NULL CHECK (state IN ('active', 'paused', 'disabled')),
    state_reason        text,
    version             int8 NOT NULL,
    replays             int8 NOT NULL CHECK (replays >= 0),
    cursor_epoch        text NOT NULL,
    cursor_seq          int8 NOT NULL CHECK (cursor_seq >= 0),
    failures            int8 NOT NULL CHECK (failures >= 0),
    failing_since       int8,
    next_attempt_at     int8 NOT NULL,
    last_attempt        int8 NOT NULL DEFAULT 0,
    lease_holder        text,
    lease_until         int8 NOT NULL DEFAULT 0
  ) WITH (fillfactor = 50);

  CREATE TABLE webhook_attempts (
    webhook_id  text NOT NULL REFERENCES webhooks ON DELETE CASCADE,
    number      int8 NOT NULL,
    at          int8 NOT NULL,
    message_id  text NOT NULL,
    first_seq   int8 NOT NULL,
    last_seq    int8 NOT NULL,
    changes     int8 NOT NULL,
    duration_ms int8 NOT NULL,
    status      int8,
    error       text,
    answer      text NOT NULL,
    PRIMARY KEY (webhook_id, number)
  );
`;
