-- What is asked of the database. A statement with a dialect behind its name replaces the one without. ${...} stands for a
-- table, for the time by the database's clock in microseconds since 2020, or for a list of parameters.

-- name: take postgresql
INSERT INTO ${lock} AS l (lock_key, claim_id, owner, client, token, lease_end, waiting, places, watched_until)
VALUES (?, ?, ?, ?, ${now}, ${now} + ?, 0, 0, 0)
ON CONFLICT (lock_key) DO UPDATE SET
    claim_id = excluded.claim_id, owner = excluded.owner, client = excluded.client,
    token = greatest(l.token + 1, excluded.token), lease_end = excluded.lease_end
WHERE (l.claim_id IS NULL OR (l.lease_end <= excluded.token AND l.waiting = 0)) AND l.watched_until < excluded.token
RETURNING claim_id, token

-- name: take mariadb
-- Assigned from left to right: what decides is changed last. A live hold of the same claim starts its lease anew.
INSERT INTO ${lock} (lock_key, claim_id, owner, client, token, lease_end, waiting, places, watched_until)
VALUES (?, ?, ?, ?, ${now}, ${now} + ?, 0, 0, 0)
ON DUPLICATE KEY UPDATE
    token = IF((claim_id IS NULL OR (lease_end <= VALUES(token) AND waiting = 0)) AND watched_until < VALUES(token),
        greatest(token + 1, VALUES(token)), token),
    owner = IF((claim_id IS NULL OR (lease_end <= VALUES(token) AND waiting = 0)) AND watched_until < VALUES(token),
        VALUES(owner), owner),
    client = IF((claim_id IS NULL OR (lease_end <= VALUES(token) AND waiting = 0)) AND watched_until < VALUES(token),
        VALUES(client), client),
    claim_id = IF((claim_id IS NULL OR (lease_end <= VALUES(token) AND waiting = 0)) AND watched_until < VALUES(token),
        VALUES(claim_id), claim_id),
    lease_end = IF(claim_id = VALUES(claim_id) AND (token >= VALUES(token) OR lease_end > VALUES(token)),
        VALUES(lease_end), lease_end)

-- name: take h2
MERGE INTO ${lock} AS l
USING (VALUES (CAST(? AS VARBINARY(512)), CAST(? AS VARCHAR), CAST(? AS VARCHAR), CAST(? AS VARCHAR), ${now},
    ${now} + CAST(? AS BIGINT))) AS n (lock_key, claim_id, owner, client, token, lease_end)
ON l.lock_key = n.lock_key
WHEN MATCHED AND (l.claim_id IS NULL OR (l.lease_end <= n.token AND l.waiting = 0)) AND l.watched_until < n.token
THEN UPDATE SET claim_id = n.claim_id, owner = n.owner, client = n.client,
    token = greatest(l.token + 1, n.token), lease_end = n.lease_end
WHEN NOT MATCHED THEN INSERT (lock_key, claim_id, owner, client, token, lease_end, waiting, places, watched_until)
VALUES (n.lock_key, n.claim_id, n.owner, n.client, n.token, n.lease_end, 0, 0, 0)

-- name: look
SELECT claim_id, token FROM ${lock} WHERE lock_key = ? AND lease_end > ${now}

-- name: ensure postgresql
INSERT INTO ${lock} (lock_key, token, lease_end, waiting, places, watched_until) VALUES (?, 0, ${now}, 0, 0, 0)
ON CONFLICT (lock_key) DO NOTHING

-- name: ensure mariadb
INSERT IGNORE INTO ${lock} (lock_key, token, lease_end, waiting, places, watched_until) VALUES (?, 0, ${now}, 0, 0, 0)

-- name: ensure h2
MERGE INTO ${lock} AS l USING (VALUES (CAST(? AS VARBINARY(512)))) AS n (lock_key) ON l.lock_key = n.lock_key
WHEN NOT MATCHED THEN INSERT (lock_key, token, lease_end, waiting, places, watched_until)
VALUES (n.lock_key, 0, ${now}, 0, 0, 0)

-- name: lock
SELECT claim_id, owner, client, token, lease_end, waiting, places, watched_until, ${now} AS now_is
FROM ${lock} WHERE lock_key = ? FOR UPDATE

-- name: inspect
SELECT claim_id, owner, client, token, lease_end, waiting, places, watched_until, ${now} AS now_is,
    (SELECT count(*) FROM ${waiter} w WHERE w.lock_key = l.lock_key AND w.alive_until > ${now}) AS waiters
FROM ${lock} l WHERE lock_key = ?

-- name: glance
SELECT l.claim_id, l.token, l.lease_end, ${now} AS now_is, w.alive_until
FROM ${lock} l JOIN ${waiter} w ON w.claim_id = ? WHERE l.lock_key = ?

-- name: grant
UPDATE ${lock} SET claim_id = ?, owner = ?, client = ?, token = ?, lease_end = ?, waiting = ? WHERE lock_key = ?

-- name: extend
UPDATE ${lock} SET lease_end = ? WHERE lock_key = ?

-- name: free
UPDATE ${lock} SET claim_id = NULL, owner = NULL, client = NULL, lease_end = ?, waiting = 0 WHERE lock_key = ?

-- name: release
UPDATE ${lock} SET claim_id = NULL, owner = NULL, client = NULL, lease_end = ${now}
WHERE lock_key = ? AND claim_id = ? AND lease_end > ${now} AND waiting = 0 AND watched_until < ${now}

-- name: place
UPDATE ${lock} SET waiting = 1, places = ? WHERE lock_key = ?

-- name: places
SELECT coalesce(max(place), 0) AS taken FROM ${waiter} WHERE lock_key = ?

-- name: next
SELECT claim_id, owner, client, lease, place FROM ${waiter} WHERE lock_key = ? AND alive_until > ? ORDER BY place LIMIT 2

-- name: enqueue postgresql
INSERT INTO ${waiter} (claim_id, lock_key, place, owner, client, lease, alive_until) VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (claim_id) DO UPDATE SET alive_until = excluded.alive_until

-- name: enqueue mariadb
INSERT INTO ${waiter} (claim_id, lock_key, place, owner, client, lease, alive_until) VALUES (?, ?, ?, ?, ?, ?, ?)
ON DUPLICATE KEY UPDATE alive_until = VALUES(alive_until)

-- name: enqueue h2
MERGE INTO ${waiter} AS w
USING (VALUES (CAST(? AS VARCHAR), CAST(? AS VARBINARY(512)), CAST(? AS BIGINT), CAST(? AS VARCHAR), CAST(? AS VARCHAR),
    CAST(? AS BIGINT), CAST(? AS BIGINT))) AS n (claim_id, lock_key, place, owner, client, lease, alive_until)
ON w.claim_id = n.claim_id
WHEN MATCHED THEN UPDATE SET alive_until = n.alive_until
WHEN NOT MATCHED THEN INSERT (claim_id, lock_key, place, owner, client, lease, alive_until)
VALUES (n.claim_id, n.lock_key, n.place, n.owner, n.client, n.lease, n.alive_until)

-- name: leave
DELETE FROM ${waiter} WHERE claim_id = ?

-- name: renew
UPDATE ${lock} SET lease_end = ${now} + ? WHERE lock_key IN (${list}) AND claim_id IN (${list}) AND lease_end > ${now}

-- name: owners
SELECT lock_key, claim_id, token FROM ${lock} WHERE lock_key IN (${list}) AND claim_id IS NOT NULL AND lease_end > ${now}

-- name: notify
SELECT pg_notify(?, ?)

-- name: record
INSERT INTO ${event} (lock_key, number, owner, happened_at) VALUES (?, ?, ?, ?)

-- name: watch
UPDATE ${lock} SET watched_until = greatest(watched_until, ${now} + ?) WHERE lock_key = ?

-- name: events
SELECT number, owner FROM ${event} WHERE lock_key = ? AND number > ? ORDER BY number

-- name: clean_waiters
DELETE FROM ${waiter} WHERE alive_until < ${now} - ?

-- name: clean_events
DELETE FROM ${event} WHERE happened_at < ${now} - ?

-- name: outdated
SELECT lock_key FROM ${lock} WHERE lease_end < ${now} - ? AND watched_until < ${now} LIMIT 500

-- name: clean
DELETE FROM ${lock} WHERE lock_key = ? AND lease_end < ${now} - ? AND watched_until < ${now}
    AND NOT EXISTS (SELECT 1 FROM ${waiter} w WHERE w.lock_key = ${lock}.lock_key)

-- name: fence postgresql
INSERT INTO ${fence} AS f (resource, token) VALUES (?, ?)
ON CONFLICT (resource) DO UPDATE SET token = greatest(f.token, excluded.token)

-- name: fence mariadb
INSERT INTO ${fence} (resource, token) VALUES (?, ?) ON DUPLICATE KEY UPDATE token = greatest(token, VALUES(token))

-- name: fence h2
MERGE INTO ${fence} AS f USING (VALUES (CAST(? AS VARBINARY(512)), CAST(? AS BIGINT))) AS n (resource, token)
ON f.resource = n.resource
WHEN MATCHED THEN UPDATE SET token = greatest(f.token, n.token)
WHEN NOT MATCHED THEN INSERT (resource, token) VALUES (n.resource, n.token)

-- name: fenced
SELECT token FROM ${fence} WHERE resource = ?

-- name: row_ensure postgresql
INSERT INTO ${row} (row_key) VALUES (?) ON CONFLICT (row_key) DO NOTHING

-- name: row_ensure mariadb
INSERT IGNORE INTO ${row} (row_key) VALUES (?)

-- name: row_ensure h2
MERGE INTO ${row} (row_key) KEY (row_key) VALUES (?)

-- name: row_lock
SELECT row_key FROM ${row} WHERE row_key = ? FOR UPDATE

-- name: once_begin postgresql
INSERT INTO ${once} AS o (once_key, run_id, expires, outcome) VALUES (?, ?, ${now} + ?, NULL)
ON CONFLICT (once_key) DO UPDATE SET run_id = excluded.run_id, expires = excluded.expires, outcome = NULL
WHERE o.expires <= ${now}

-- name: once_begin mariadb
-- Assigned from left to right: what decides is changed last.
INSERT INTO ${once} (once_key, run_id, expires, outcome) VALUES (?, ?, ${now} + ?, NULL)
ON DUPLICATE KEY UPDATE
    run_id = IF(expires <= ${now}, VALUES(run_id), run_id),
    outcome = IF(expires <= ${now}, NULL, outcome),
    expires = IF(expires <= ${now}, VALUES(expires), expires)

-- name: once_begin h2
MERGE INTO ${once} AS o
USING (VALUES (CAST(? AS VARBINARY(512)), CAST(? AS VARCHAR), ${now} + CAST(? AS BIGINT))) AS n (once_key, run_id, expires)
ON o.once_key = n.once_key
WHEN MATCHED AND o.expires <= ${now} THEN UPDATE SET run_id = n.run_id, expires = n.expires, outcome = NULL
WHEN NOT MATCHED THEN INSERT (once_key, run_id, expires) VALUES (n.once_key, n.run_id, n.expires)

-- name: once_look
SELECT run_id, outcome FROM ${once} WHERE once_key = ?

-- name: once_outcome
UPDATE ${once} SET outcome = ? WHERE once_key = ? AND run_id = ?

-- name: once_undo
DELETE FROM ${once} WHERE once_key = ? AND run_id = ?

-- name: once_clean
DELETE FROM ${once} WHERE expires <= ${now}
