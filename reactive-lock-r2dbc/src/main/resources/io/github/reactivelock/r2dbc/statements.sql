-- What is asked of the database. A statement with a dialect behind its name replaces the one without. ${...} stands for
-- a table, for the time by the database's clock in microseconds since 2020, for how long a statement waits for a row
-- (in PostgreSQL milliseconds, in MariaDB seconds), or for a list of parameters: of keys, of ids of claims, of the
-- lease of each id. In PostgreSQL a list is an array, so that there is one text for each statement: a session keeps
-- what it has prepared.
--
-- In MariaDB each statement begins with how long it may wait and take (Sql.PATIENT), but for those with a patience of
-- their own.
--
-- The clock is read when the row is locked: PostgreSQL's where it stands, MariaDB's at the start of a statement, H2's
-- when a transaction first asks for it.

-- name: claim postgresql
-- Takes a lock that is free, joins the queue of one that is held, or finds out that it is held: all of it by what the
-- row says when it is locked. No row comes back if more has to be known: an owner's lease ended and others wait, or a
-- watcher wants a record. A busy lock is tried without locking anything.
WITH asked AS MATERIALIZED (
    SELECT CAST(? AS BYTEA) AS lock_key, CAST(? AS VARCHAR) AS claim_id, CAST(? AS VARCHAR) AS owner,
        CAST(? AS VARCHAR) AS client, CAST(? AS BIGINT) AS lease, CAST(? AS BIGINT) AS waits,
        set_config('lock_timeout', '${patience}', true) AS patience
), busy AS MATERIALIZED (
    SELECT l.claim_id, l.token, l.lease_end - ${now} AS remaining FROM ${lock} l JOIN asked a ON l.lock_key = a.lock_key
    WHERE a.waits = 0 AND l.claim_id <> a.claim_id AND l.lease_end > ${now}
), locked AS (
    INSERT INTO ${lock} AS l (lock_key, claim_id, owner, client, token, lease_end, waiting, places, watched_until)
    SELECT lock_key, claim_id, owner, client, ${now}, ${now} + lease, 0, 0, 0 FROM asked
    WHERE patience IS NOT NULL AND NOT EXISTS (SELECT 1 FROM busy)
    ON CONFLICT (lock_key) DO UPDATE SET (claim_id, owner, client, token, lease_end, waiting, places) = (
        SELECT
            CASE WHEN f.free THEN excluded.claim_id ELSE l.claim_id END,
            CASE WHEN f.free THEN excluded.owner ELSE l.owner END,
            CASE WHEN f.free THEN excluded.client ELSE l.client END,
            CASE WHEN f.free THEN greatest(l.token + 1, n.now_is) ELSE l.token END,
            CASE WHEN f.free OR f.own THEN n.now_is + a.lease ELSE l.lease_end END,
            CASE WHEN f.free THEN 0 WHEN f.own THEN l.waiting ELSE greatest(l.waiting, a.waits) END,
            CASE WHEN f.free OR f.own OR a.waits = 0 THEN l.places WHEN l.waiting = 1 THEN l.places + 1
                ELSE greatest(l.places,
                    (SELECT coalesce(max(w.place), 0) FROM ${waiter} w WHERE w.lock_key = a.lock_key)) + 1 END
        FROM asked a, (SELECT ${now} AS now_is) n, LATERAL (SELECT
            l.watched_until < n.now_is AND (l.claim_id IS NULL OR (l.lease_end <= n.now_is AND l.waiting = 0)) AS free,
            l.claim_id = a.claim_id AND l.lease_end > n.now_is AS own) f)
    WHERE CASE
        WHEN l.claim_id IS NULL THEN l.watched_until < ${now}
        WHEN l.lease_end > ${now} THEN true
        ELSE l.waiting = 0 AND l.watched_until < ${now} END
    RETURNING claim_id, token, lease_end - ${now} AS remaining, places
), queued AS (
    INSERT INTO ${waiter} AS w (claim_id, lock_key, place, owner, client, lease, alive_until)
    SELECT a.claim_id, a.lock_key, l.places, a.owner, a.client, a.lease, ${now} + a.lease FROM asked a, locked l
    WHERE a.waits = 1 AND l.claim_id <> a.claim_id
    ON CONFLICT (claim_id) DO UPDATE SET alive_until = excluded.alive_until
)
SELECT claim_id, token, remaining FROM locked UNION ALL SELECT claim_id, token, remaining FROM busy

-- name: claim mariadb
-- The same as a compound statement, which MariaDB knows and MySQL does not.
BEGIN NOT ATOMIC
    DECLARE asked_key VARBINARY(512) DEFAULT ?;
    DECLARE asked_claim VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT ?;
    DECLARE asked_owner VARCHAR(200) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT ?;
    DECLARE asked_client VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT ?;
    DECLARE asked_lease, asked_waits BIGINT;
    DECLARE row_claim VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE now_is, row_token, row_end, row_waiting, row_places, row_watched BIGINT;
    DECLARE answered BIGINT DEFAULT 0;
    DECLARE EXIT HANDLER FOR SQLEXCEPTION
    BEGIN
        ROLLBACK;
        RESIGNAL;
    END;
    SET asked_lease = ?, asked_waits = ?;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
    START TRANSACTION;
    SET now_is = ${now};
    IF asked_waits = 0 THEN
        SELECT claim_id, token, lease_end INTO row_claim, row_token, row_end FROM ${lock} WHERE lock_key = asked_key;
        SET answered = coalesce(row_claim <> asked_claim AND row_end > now_is, 0);
    END IF;
    IF answered = 0 THEN
        INSERT INTO ${lock} (lock_key, token, lease_end, waiting, places, watched_until) VALUES (asked_key, 0, 0, 0, 0, 0)
        ON DUPLICATE KEY UPDATE lock_key = VALUES(lock_key);
        SELECT claim_id, token, lease_end, waiting, places, watched_until
        INTO row_claim, row_token, row_end, row_waiting, row_places, row_watched FROM ${lock} WHERE lock_key = asked_key;
        SET now_is = ${now};
        IF row_claim = asked_claim AND row_end > now_is THEN
            SET row_end = now_is + asked_lease;
            UPDATE ${lock} SET lease_end = row_end WHERE lock_key = asked_key;
            SET answered = 1;
        ELSEIF row_claim IS NOT NULL AND row_end > now_is THEN
            IF asked_waits = 1 THEN
                IF row_waiting = 0 THEN
                    SELECT greatest(row_places, coalesce(max(place), 0)) INTO row_places
                    FROM ${waiter} WHERE lock_key = asked_key;
                END IF;
                UPDATE ${lock} SET waiting = 1, places = row_places + 1 WHERE lock_key = asked_key;
                INSERT INTO ${waiter} (claim_id, lock_key, place, owner, client, lease, alive_until) VALUES
                    (asked_claim, asked_key, row_places + 1, asked_owner, asked_client, asked_lease, now_is + asked_lease)
                ON DUPLICATE KEY UPDATE alive_until = VALUES(alive_until);
            END IF;
            SET answered = 1;
        ELSEIF (row_claim IS NULL OR row_waiting = 0) AND row_watched < now_is THEN
            SET row_claim = asked_claim, row_token = greatest(row_token + 1, now_is), row_end = now_is + asked_lease;
            UPDATE ${lock} SET claim_id = asked_claim, owner = asked_owner, client = asked_client, token = row_token,
                lease_end = row_end, waiting = 0 WHERE lock_key = asked_key;
            SET answered = 1;
        END IF;
    END IF;
    COMMIT;
    IF answered = 1 THEN
        SELECT row_claim AS claim_id, row_token AS token, row_end - now_is AS remaining;
    END IF;
END

-- name: claim mysql
-- The same as a script: a transaction of statements that go to MySQL as one text, because it knows compound statements
-- only in procedures. What one statement finds the next reads from variables of the session; each is set before it is
-- read. A script takes no parameters, so values are put in as hexadecimal digits (Sql.script).
SET @rlock_key = ?, @rlock_claim = ?, @rlock_owner = ?, @rlock_client = ?, @rlock_lease = ?, @rlock_joins = ?,
    @rlock_had = NULL, @rlock_token = NULL, @rlock_end = NULL, @rlock_waiting = NULL, @rlock_places = NULL,
    @rlock_watched = NULL, @rlock_now = ${now};
SELECT claim_id, token, lease_end INTO @rlock_had, @rlock_token, @rlock_end
FROM ${lock} WHERE lock_key = @rlock_key AND @rlock_joins = 0;
SET @rlock_busy = coalesce(@rlock_had <> @rlock_claim AND @rlock_end > @rlock_now, 0);
INSERT INTO ${lock} (lock_key, token, lease_end, waiting, places, watched_until)
SELECT @rlock_key, 0, 0, 0, 0, 0 FROM DUAL WHERE @rlock_busy = 0 ON DUPLICATE KEY UPDATE lock_key = VALUES(lock_key);
SELECT claim_id, token, lease_end, waiting, places, watched_until
INTO @rlock_had, @rlock_token, @rlock_end, @rlock_waiting, @rlock_places, @rlock_watched
FROM ${lock} WHERE lock_key = @rlock_key AND @rlock_busy = 0 FOR UPDATE;
SET @rlock_now = ${now};
SET @rlock_does = CASE
    WHEN @rlock_had = @rlock_claim AND @rlock_end > @rlock_now THEN 'extend'
    WHEN @rlock_had IS NOT NULL AND @rlock_end > @rlock_now THEN IF(@rlock_joins = 1, 'join', 'look')
    WHEN (@rlock_had IS NULL OR @rlock_waiting = 0) AND @rlock_watched < @rlock_now THEN 'take' END;
SET @rlock_place = IF(@rlock_does = 'join', 1 + IF(@rlock_waiting = 1, @rlock_places,
    greatest(@rlock_places, (SELECT coalesce(max(place), 0) FROM ${waiter} WHERE lock_key = @rlock_key))), NULL);
UPDATE ${lock} SET
    claim_id = IF(@rlock_does = 'take', @rlock_claim, claim_id),
    owner = IF(@rlock_does = 'take', @rlock_owner, owner),
    client = IF(@rlock_does = 'take', @rlock_client, client),
    token = IF(@rlock_does = 'take', greatest(token + 1, @rlock_now), token),
    lease_end = IF(@rlock_does = 'join', lease_end, @rlock_now + @rlock_lease),
    waiting = CASE @rlock_does WHEN 'take' THEN 0 WHEN 'join' THEN 1 ELSE waiting END,
    places = coalesce(@rlock_place, places)
WHERE lock_key = @rlock_key AND @rlock_does IN ('take', 'join', 'extend');
INSERT INTO ${waiter} (claim_id, lock_key, place, owner, client, lease, alive_until)
SELECT @rlock_claim, @rlock_key, @rlock_place, @rlock_owner, @rlock_client, @rlock_lease, @rlock_now + @rlock_lease
FROM DUAL WHERE @rlock_place IS NOT NULL ON DUPLICATE KEY UPDATE alive_until = VALUES(alive_until);
SELECT CONVERT(IF(@rlock_does = 'take', @rlock_claim, @rlock_had) USING utf8mb4) AS claim_id,
    CAST(IF(@rlock_does = 'take', greatest(@rlock_token + 1, @rlock_now), @rlock_token) AS SIGNED) AS token,
    CAST(IF(@rlock_does IN ('take', 'extend'), @rlock_lease, @rlock_end - @rlock_now) AS SIGNED) AS remaining
FROM DUAL WHERE @rlock_does IS NOT NULL

-- name: hand postgresql
-- Ends the owner's hold and gives the lock to who has waited longest. A statement sees the queue as it was when it
-- began, and the row as it is once it is locked. So the lock is made free only if the row says that no claim waits, or
-- that none came since; and others are behind the one that is served unless its was the last place given. No row comes
-- back if more has to be known, or who is next wants a share. A waiting claim keeps its row alive without locking the
-- lock's, so the clock is read when that row is gone.
WITH asked AS MATERIALIZED (
    SELECT CAST(? AS BYTEA) AS lock_key, CAST(? AS VARCHAR) AS claim_id, CAST(? AS VARCHAR) AS client,
        set_config('lock_timeout', '${patience}', true) AS patience
), owned AS MATERIALIZED (
    SELECT l.lock_key, l.waiting, l.places FROM ${lock} l JOIN asked a ON l.lock_key = a.lock_key
    WHERE l.claim_id = a.claim_id AND l.lease_end > ${now} AND l.watched_until < ${now} AND a.patience IS NOT NULL
    FOR UPDATE OF l
), first AS MATERIALIZED (
    SELECT n.claim_id, n.units FROM owned o CROSS JOIN LATERAL (SELECT w.claim_id, w.units FROM ${waiter} w
        WHERE o.waiting = 1 AND w.lock_key = o.lock_key AND w.alive_until > ${now} ORDER BY w.place LIMIT 1) n
), served AS (
    DELETE FROM ${waiter} w USING first f WHERE w.claim_id = f.claim_id AND f.units = 2147483647
    RETURNING w.claim_id, w.owner, w.client, w.lease, w.place
), changed AS (
    UPDATE ${lock} l SET claim_id = s.claim_id, owner = s.owner, client = s.client,
        token = CASE WHEN s.claim_id IS NULL THEN l.token ELSE greatest(l.token + 1, ${now}) END,
        lease_end = ${now} + coalesce(s.lease, 0),
        waiting = CASE WHEN s.place < o.places THEN 1 ELSE 0 END
    FROM owned o LEFT JOIN served s ON true
    WHERE l.lock_key = o.lock_key AND (s.claim_id IS NOT NULL OR o.waiting = 0 OR (NOT EXISTS (SELECT 1 FROM first)
        AND o.places = (SELECT seen.places FROM ${lock} seen WHERE seen.lock_key = o.lock_key)))
    RETURNING l.claim_id, l.client, l.token
)
SELECT c.claim_id, c.client, c.token, CASE WHEN c.client <> a.client
    THEN CAST(pg_notify('reactive_lock.' || c.client, 'grant ' || c.claim_id || ' ' || c.token) AS TEXT) END AS told
FROM changed c CROSS JOIN asked a

-- name: hand mariadb
-- Rings for the client that was served once that is certain; a ring that is refused changes nothing.
BEGIN NOT ATOMIC
    DECLARE asked_key VARBINARY(512) DEFAULT ?;
    DECLARE asked_claim VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT ?;
    DECLARE asked_client VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT ?;
    DECLARE row_claim, next_claim, next_client VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE next_owner VARCHAR(200) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE now_is, row_token, row_end, row_watched, next_lease, next_units, others, listener BIGINT;
    DECLARE answered BIGINT DEFAULT 0;
    DECLARE EXIT HANDLER FOR SQLEXCEPTION
    BEGIN
        ROLLBACK;
        RESIGNAL;
    END;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
    START TRANSACTION;
    SELECT claim_id, token, lease_end, watched_until INTO row_claim, row_token, row_end, row_watched
    FROM ${lock} WHERE lock_key = asked_key FOR UPDATE;
    SET now_is = ${now};
    WHILE answered = 0 AND row_claim = asked_claim AND row_end > now_is AND row_watched < now_is DO
        SET next_claim = NULL;
        SELECT claim_id, owner, client, lease, units INTO next_claim, next_owner, next_client, next_lease, next_units
        FROM ${waiter} WHERE lock_key = asked_key AND alive_until > now_is ORDER BY place LIMIT 1;
        IF next_claim IS NULL THEN
            UPDATE ${lock} SET claim_id = NULL, owner = NULL, client = NULL, lease_end = now_is, waiting = 0
            WHERE lock_key = asked_key;
            SET answered = 1;
        ELSEIF next_units < 2147483647 THEN
            SET row_claim = NULL;
        ELSE
            DELETE FROM ${waiter} WHERE claim_id = next_claim;
            IF ROW_COUNT() > 0 THEN
                SET now_is = ${now};
                SET row_token = greatest(row_token + 1, now_is);
                SET others = EXISTS (SELECT 1 FROM ${waiter} WHERE lock_key = asked_key);
                UPDATE ${lock} SET claim_id = next_claim, owner = next_owner, client = next_client, token = row_token,
                    lease_end = now_is + next_lease, waiting = others WHERE lock_key = asked_key;
                SET answered = 1;
            END IF;
        END IF;
    END WHILE;
    COMMIT;
    IF answered = 1 THEN
        IF next_client <> asked_client THEN
            BEGIN
                DECLARE CONTINUE HANDLER FOR SQLEXCEPTION BEGIN END;
                SET listener = IS_USED_LOCK(concat('reactive_lock.', next_client));
                IF listener IS NOT NULL THEN
                    KILL QUERY listener;
                END IF;
            END;
        END IF;
        SELECT next_claim AS claim_id, next_client AS client, row_token AS token;
    END IF;
END

-- name: hand mysql
-- No answer comes back if more has to be known, or who was next has left the queue in this moment.
SET @rlock_key = ?, @rlock_claim = ?, @rlock_us = ?, @rlock_had = NULL, @rlock_token = NULL, @rlock_end = NULL,
    @rlock_watched = NULL, @rlock_next = NULL, @rlock_owner = NULL, @rlock_client = NULL, @rlock_lease = 0, @rlock_units = NULL;
SELECT claim_id, token, lease_end, watched_until INTO @rlock_had, @rlock_token, @rlock_end, @rlock_watched
FROM ${lock} WHERE lock_key = @rlock_key FOR UPDATE;
SET @rlock_now = ${now};
SET @rlock_owns = coalesce(@rlock_had = @rlock_claim AND @rlock_end > @rlock_now AND @rlock_watched < @rlock_now, 0);
SELECT claim_id, owner, client, lease, units INTO @rlock_next, @rlock_owner, @rlock_client, @rlock_lease, @rlock_units
FROM ${waiter} WHERE lock_key = @rlock_key AND @rlock_owns = 1 AND alive_until > @rlock_now ORDER BY place LIMIT 1;
DELETE FROM ${waiter} WHERE claim_id = @rlock_next AND @rlock_units = 2147483647;
SET @rlock_served = ROW_COUNT();
SET @rlock_now = ${now};
SET @rlock_does = CASE
    WHEN @rlock_owns = 1 AND @rlock_next IS NULL THEN 'free'
    WHEN @rlock_owns = 1 AND @rlock_served = 1 THEN 'serve' END;
SET @rlock_others = EXISTS (SELECT 1 FROM ${waiter} WHERE lock_key = @rlock_key);
UPDATE ${lock} SET claim_id = @rlock_next, owner = @rlock_owner, client = @rlock_client,
    token = IF(@rlock_does = 'serve', greatest(token + 1, @rlock_now), token),
    lease_end = @rlock_now + @rlock_lease, waiting = IF(@rlock_does = 'serve', @rlock_others, 0)
WHERE lock_key = @rlock_key AND @rlock_does IS NOT NULL;
SELECT CONVERT(@rlock_next USING utf8mb4) AS claim_id, CONVERT(@rlock_client USING utf8mb4) AS client,
    CAST(IF(@rlock_does = 'serve', greatest(@rlock_token + 1, @rlock_now), @rlock_token) AS SIGNED) AS token
FROM DUAL WHERE @rlock_does IS NOT NULL

-- name: hand_ring mysql
-- Behind the COMMIT. Prepared, because it is an error to end what is not there; one that is refused all the same is the
-- answer to this alone.
SET @rlock_listener = IF(@rlock_does = 'serve' AND @rlock_client <> @rlock_us,
    IS_USED_LOCK(concat('reactive_lock.', @rlock_client)), NULL);
SET @rlock_ring = coalesce(concat('KILL QUERY ', @rlock_listener), 'DO 0');
PREPARE rlock_ring FROM @rlock_ring;
EXECUTE rlock_ring

-- name: listening mariadb
-- A connection that sleeps in its statements: none of them is slow, none is too long, and none is in a transaction,
-- which would keep an ALTER TABLE waiting. None waits for a table for long: such sessions would pile up.
SET SESSION autocommit = 1, SESSION lock_wait_timeout = 2,
    /*M! SESSION max_statement_time = 0, SESSION in_predicate_conversion_threshold = 0, */ /*!50708 SESSION max_execution_time = 0, */
    SESSION long_query_time = 31536000

-- name: listen mariadb
-- Looks which of the claims were served, and which of the locks that are watched have events behind the last that was
-- seen (a row with #), and for how many microseconds, and whether claims were released by force (!); sleeps if there
-- is nothing, and looks again. One request: a ring that comes between a look and the next sleep would be lost. It
-- sleeps by waiting for a name that another connection has, because what ends MariaDB's SLEEP may stand still with
-- it, and all that sleep with them. DO, because it ends without an error when it is rung for, and without a table,
-- because one that sleeps would keep it open. A connection that others share must not sleep. The row with a dot says
-- whether it is one's own (1), and has got that name (2), and whether a ring ended the sleep.
BEGIN NOT ATOMIC
    DECLARE asked_name VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT ?;
    DECLARE asked_watched LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT ?;
    DECLARE is_own, asleep_at BIGINT;
    DECLARE is_rung, is_anchor BIGINT DEFAULT 0;
    SET is_own = coalesce(IS_USED_LOCK(asked_name) = CONNECTION_ID(), 0);
    IF is_own = 1 AND NOT EXISTS (
        SELECT 1 FROM ${lock} FORCE INDEX (PRIMARY)
        WHERE lock_key ${keys} AND claim_id ${ids} AND lease_end > ${now}
        UNION ALL
        SELECT 1 FROM ${share} s FORCE INDEX (PRIMARY) JOIN ${lock} l ON l.lock_key = s.lock_key
        WHERE s.claim_id ${ids} AND s.lease_end > ${now} AND l.claim_id = '='
        UNION ALL
        SELECT 1 FROM json_table(asked_watched, '$[*]' COLUMNS (k VARCHAR(1024) PATH '$[0]', n BIGINT PATH '$[1]')) w
        STRAIGHT_JOIN ${event} e FORCE INDEX (PRIMARY) ON e.lock_key = unhex(w.k) AND e.number > w.n
        UNION ALL
        SELECT 1 FROM ${event} WHERE lock_key = CONVERT(asked_name USING binary) AND number < 0)
    THEN
        SET asleep_at = ${now};
        DO GET_LOCK('reactive_lock', 2);
        SET is_anchor = coalesce(IS_USED_LOCK('reactive_lock') = CONNECTION_ID(), 0);
        SET is_rung = is_anchor = 0 AND ${now} - asleep_at < 1900000;
    END IF;
    SELECT '.' AS claim_id, is_own + is_anchor AS token, is_rung AS age
    UNION ALL
    SELECT claim_id, token, ${now} - token FROM ${lock} FORCE INDEX (PRIMARY)
    WHERE lock_key ${keys} AND claim_id ${ids} AND lease_end > ${now}
    UNION ALL
    SELECT s.claim_id, s.token, ${now} - s.token
    FROM ${share} s FORCE INDEX (PRIMARY) JOIN ${lock} l ON l.lock_key = s.lock_key
    WHERE s.claim_id ${ids} AND s.lease_end > ${now} AND l.claim_id = '='
    UNION ALL
    SELECT CONVERT(concat('#', w.k) USING utf8mb4) COLLATE utf8mb4_bin, max(e.number), ${now} - max(e.happened_at)
    FROM json_table(asked_watched, '$[*]' COLUMNS (k VARCHAR(1024) PATH '$[0]', n BIGINT PATH '$[1]')) w
    STRAIGHT_JOIN ${event} e FORCE INDEX (PRIMARY) ON e.lock_key = unhex(w.k) AND e.number > w.n GROUP BY w.k
    UNION ALL
    SELECT concat('!', owner), number, 0 FROM ${event} WHERE lock_key = CONVERT(asked_name USING binary) AND number < 0;
END

-- name: listen mysql
-- The sleep is the last of them, because MySQL carries out none behind one that was ended.
-- A SET reads all its variables before it sets one, and no lock has a name that is null.
SET @rlock_name = ?, @rlock_watched = ?;
SET @rlock_own = coalesce(IS_USED_LOCK(@rlock_name) = CONNECTION_ID(), 0);
SELECT claim_id, token, ${now} - token AS age FROM ${lock} FORCE INDEX (PRIMARY)
WHERE lock_key IN (?) AND claim_id IN (?) AND lease_end > ${now}
UNION ALL
SELECT s.claim_id, s.token, ${now} - s.token FROM ${share} s FORCE INDEX (PRIMARY) JOIN ${lock} l ON l.lock_key = s.lock_key
WHERE s.claim_id IN (?) AND s.lease_end > ${now} AND l.claim_id = '='
UNION ALL
SELECT CONVERT(concat('#', w.k) USING utf8mb4) COLLATE utf8mb4_bin, max(e.number), ${now} - max(e.happened_at)
FROM json_table(@rlock_watched, '$[*]' COLUMNS (k VARCHAR(1024) PATH '$[0]', n BIGINT PATH '$[1]')) w
STRAIGHT_JOIN ${event} e FORCE INDEX (PRIMARY) ON e.lock_key = unhex(w.k) AND e.number > w.n GROUP BY w.k
UNION ALL
SELECT concat('!', owner), number, 0 FROM ${event} WHERE lock_key = CONVERT(@rlock_name USING binary) AND number < 0;
SELECT '.' AS claim_id, CAST(@rlock_own AS SIGNED) AS token,
    CAST(IF(@rlock_own = 1 AND FOUND_ROWS() = 0, SLEEP(2), 0) AS SIGNED) AS age

-- name: listener mariadb
SELECT GET_LOCK(?, ?) AS taken

-- name: unlisten mariadb
SELECT RELEASE_LOCK(?) AS taken

-- name: silence mariadb
-- An earlier connection of the same client, whose server has not noticed yet that it is gone, still has the name.
KILL IS_USED_LOCK(?)

-- name: ring mariadb
BEGIN NOT ATOMIC
    DECLARE listener BIGINT;
    DECLARE CONTINUE HANDLER FOR SQLEXCEPTION BEGIN END;
    SET listener = IS_USED_LOCK(?);
    IF listener IS NOT NULL THEN
        KILL QUERY listener;
    END IF;
END

-- name: ring mysql
SET @rlock_ring = coalesce(concat('KILL QUERY ', IS_USED_LOCK(?)), 'DO 0');
PREPARE rlock_ring FROM @rlock_ring;
EXECUTE rlock_ring

-- name: keep postgresql
-- Keeps the places of claims that wait and looks at their locks meanwhile. The release that serves a claim reads the
-- clock when its row is gone, so a grant that comes after this is younger than the question. A row that is locked may
-- be about to go.
WITH mine AS MATERIALIZED (
    SELECT claim_id FROM ${waiter} WHERE claim_id ${ids} AND alive_until > ${now} FOR UPDATE SKIP LOCKED
), kept AS (
    UPDATE ${waiter} w SET alive_until = ${now} + w.lease FROM mine m WHERE w.claim_id = m.claim_id
    RETURNING w.claim_id, w.lock_key
)
SELECT k.claim_id AS kept_id, l.claim_id, l.token, l.lease_end - ${now} AS remaining
FROM kept k JOIN ${lock} l ON l.lock_key = k.lock_key WHERE l.waiting = 1

-- name: keep mariadb
BEGIN NOT ATOMIC
    DECLARE now_is BIGINT;
    DECLARE kept LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE EXIT HANDLER FOR SQLEXCEPTION
    BEGIN
        ROLLBACK;
        RESIGNAL;
    END;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
    START TRANSACTION;
    SET now_is = ${now};
    FOR mine IN (
        SELECT claim_id FROM ${waiter} FORCE INDEX (PRIMARY)
        WHERE claim_id ${ids} AND alive_until > now_is FOR UPDATE SKIP LOCKED)
    DO
        UPDATE ${waiter} SET alive_until = now_is + lease WHERE claim_id = mine.claim_id;
        SET kept = concat_ws(',', kept, mine.claim_id);
    END FOR;
    COMMIT;
    SELECT w.claim_id AS kept_id, l.claim_id, l.token, l.lease_end - ${now} AS remaining
    FROM ${waiter} w FORCE INDEX (PRIMARY) JOIN ${lock} l ON l.lock_key = w.lock_key
    WHERE w.claim_id ${ids} AND find_in_set(w.claim_id, kept) > 0 AND l.waiting = 1;
END

-- name: keep mysql
-- An UPDATE of MySQL cannot pass over rows that are locked, so it finds those that are to be kept in a variable.
SET @rlock_kept = NULL, @rlock_now = ${now};
SELECT json_arrayagg(claim_id) INTO @rlock_kept FROM ${waiter} FORCE INDEX (PRIMARY)
WHERE claim_id IN (?) AND alive_until > @rlock_now FOR UPDATE SKIP LOCKED;
UPDATE json_table(@rlock_kept, '$[*]' COLUMNS (id VARCHAR(64) PATH '$')) k
STRAIGHT_JOIN ${waiter} w FORCE INDEX (PRIMARY) ON w.claim_id = k.id COLLATE utf8mb4_bin
SET w.alive_until = @rlock_now + w.lease;
SELECT w.claim_id AS kept_id, l.claim_id, l.token, l.lease_end - ${now} AS remaining
FROM json_table(@rlock_kept, '$[*]' COLUMNS (id VARCHAR(64) PATH '$')) k
STRAIGHT_JOIN ${waiter} w FORCE INDEX (PRIMARY) ON w.claim_id = k.id COLLATE utf8mb4_bin
JOIN ${lock} l ON l.lock_key = w.lock_key WHERE l.waiting = 1

-- name: places_lock h2
SELECT lock_key FROM ${lock} WHERE lock_key ${keys} AND waiting = 1 FOR UPDATE SKIP LOCKED

-- name: places_mine mariadb
SELECT claim_id FROM ${waiter} FORCE INDEX (PRIMARY) WHERE claim_id ${ids} AND alive_until > ${now} FOR UPDATE SKIP LOCKED

-- name: places_keep mariadb
UPDATE ${waiter} FORCE INDEX (PRIMARY) SET alive_until = ${now} + lease WHERE claim_id ${ids}

-- name: places_keep h2
UPDATE ${waiter} SET alive_until = ${now} + lease WHERE claim_id ${ids} AND alive_until > ${now}

-- name: places_seen h2
SELECT w.claim_id AS kept_id, l.claim_id, l.token, l.lease_end - ${now} AS remaining
FROM ${waiter} w JOIN ${lock} l ON l.lock_key = w.lock_key
WHERE w.claim_id ${ids} AND w.alive_until > ${now} AND l.waiting = 1

-- name: places_seen mariadb
SELECT w.claim_id AS kept_id, l.claim_id, l.token, l.lease_end - ${now} AS remaining
FROM ${waiter} w FORCE INDEX (PRIMARY) JOIN ${lock} l ON l.lock_key = w.lock_key WHERE w.claim_id ${ids} AND l.waiting = 1

-- name: take postgresql
-- Takes a lock that is free; no row comes back if it is not. What it knows of the time is from before the row was
-- locked: a client that is answered counts the lease from when it asked, which is earlier still.
INSERT INTO ${lock} AS l (lock_key, claim_id, owner, client, token, lease_end, waiting, places, watched_until)
SELECT ?, ?, ?, ?, ${now}, ${now} + ?, 0, 0, 0 WHERE set_config('lock_timeout', '${patience}', true) IS NOT NULL
ON CONFLICT (lock_key) DO UPDATE SET claim_id = excluded.claim_id, owner = excluded.owner, client = excluded.client,
    token = greatest(l.token + 1, excluded.token), lease_end = excluded.lease_end
WHERE l.lease_end <= excluded.token AND l.waiting = 0 AND l.watched_until < excluded.token
RETURNING claim_id, token, lease_end - ${now} AS remaining

-- name: retake postgresql
-- The same where the row is known to exist: less than an INSERT that finds it. The client brings the token, so there is
-- no row to answer; it is the time of the grant, and higher than the last, or nothing is taken.
UPDATE ${lock} SET claim_id = ?, owner = ?, client = ?, token = ?, lease_end = ${now} + ?
WHERE lock_key = ? AND waiting = 0 AND greatest(token + 1, ${now} - 1000000) <= ?
    AND greatest(lease_end, watched_until + 1, ?) <= ${now}
    AND set_config('lock_timeout', '${patience}', true) IS NOT NULL

-- name: retake mariadb
UPDATE ${lock} SET claim_id = ?, owner = ?, client = ?, token = ?, lease_end = ${now} + ?
WHERE lock_key = ? AND waiting = 0 AND greatest(token + 1, ${now} - 1000000) <= ?
    AND greatest(lease_end, watched_until + 1, ?) <= ${now}

-- name: try postgresql
-- The same, and without a lock on the row a look at one that is held.
WITH busy AS MATERIALIZED (
    SELECT claim_id, token, lease_end - ${now} AS remaining FROM ${lock}
    WHERE lock_key = ? AND claim_id <> ? AND lease_end > ${now}
), taken AS (
    INSERT INTO ${lock} AS l (lock_key, claim_id, owner, client, token, lease_end, waiting, places, watched_until)
    SELECT ?, ?, ?, ?, ${now}, ${now} + ?, 0, 0, 0
    WHERE set_config('lock_timeout', '${patience}', true) IS NOT NULL AND NOT EXISTS (SELECT 1 FROM busy)
    ON CONFLICT (lock_key) DO UPDATE SET claim_id = excluded.claim_id, owner = excluded.owner, client = excluded.client,
        token = greatest(l.token + 1, excluded.token), lease_end = excluded.lease_end
    WHERE l.lease_end <= excluded.token AND l.waiting = 0 AND l.watched_until < excluded.token
    RETURNING l.claim_id, l.token, l.lease_end - ${now} AS remaining
)
SELECT claim_id, token, remaining FROM taken UNION ALL SELECT claim_id, token, remaining FROM busy

-- name: take mariadb
-- Assigned from left to right: what decides is changed last. A live hold of the same claim starts its lease anew. MySQL
-- returns nothing and waits for a locked row as long as it is set up to. One column, because the driver reads a
-- description of each.
INSERT INTO ${lock} (lock_key, claim_id, owner, client, token, lease_end, waiting, places, watched_until)
VALUES (?, ?, ?, ?, ${now}, ${now} + ?, 0, 0, 0)
ON DUPLICATE KEY UPDATE
    token = IF(lease_end <= VALUES(token) AND waiting = 0 AND watched_until < VALUES(token),
        greatest(token + 1, VALUES(token)), token),
    owner = IF(lease_end <= VALUES(token) AND waiting = 0 AND watched_until < VALUES(token), VALUES(owner), owner),
    client = IF(lease_end <= VALUES(token) AND waiting = 0 AND watched_until < VALUES(token), VALUES(client), client),
    claim_id = IF(lease_end <= VALUES(token) AND waiting = 0 AND watched_until < VALUES(token), VALUES(claim_id), claim_id),
    lease_end = IF(claim_id = VALUES(claim_id) AND (lease_end > VALUES(token) OR (waiting = 0 AND watched_until < VALUES(token))),
        VALUES(lease_end), lease_end)
/*M! RETURNING concat_ws(' ', token, lease_end - ${now}, claim_id) AS seen */

-- name: take mysql
${statement:take};
SELECT concat_ws(' ', token, lease_end - ${now}, claim_id) AS seen FROM ${lock} WHERE lock_key = ?

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
SELECT claim_id, token, lease_end - ${now} AS remaining FROM ${lock} WHERE lock_key = ? AND lease_end > ${now}

-- name: ensure postgresql
INSERT INTO ${lock} (lock_key, token, lease_end, waiting, places, watched_until) VALUES (?, 0, 0, 0, 0, 0)
ON CONFLICT (lock_key) DO NOTHING

-- name: ensure mariadb
INSERT IGNORE INTO ${lock} (lock_key, token, lease_end, waiting, places, watched_until) VALUES (?, 0, 0, 0, 0, 0)

-- name: ensure h2
MERGE INTO ${lock} AS l USING (VALUES (CAST(? AS VARBINARY(512)))) AS n (lock_key) ON l.lock_key = n.lock_key
WHEN NOT MATCHED THEN INSERT (lock_key, token, lease_end, waiting, places, watched_until)
VALUES (n.lock_key, 0, 0, 0, 0, 0)

-- name: lock
SELECT claim_id, owner, client, token, lease_end, waiting, places, watched_until FROM ${lock} WHERE lock_key = ? FOR UPDATE

-- name: lock postgresql
-- No statement waits for a row of ours for longer than a command may take, nor for a client that stopped in the middle.
WITH patience AS MATERIALIZED (
    SELECT set_config('lock_timeout', '${patience}', true), set_config('idle_in_transaction_session_timeout', '${idle}', true)
)
SELECT claim_id, owner, client, token, lease_end, waiting, places, watched_until FROM ${lock}
WHERE lock_key = ? AND EXISTS (SELECT 1 FROM patience) FOR UPDATE

-- name: limit postgresql
-- The same for a transaction that locks no lock's row first.
SELECT set_config('lock_timeout', '${patience}', true), set_config('idle_in_transaction_session_timeout', '${idle}', true)

-- name: watched postgresql
-- Has the server look whether its client is still there while a statement waits: it waits for a table before it says
-- how long it waits. Not where an administrator has set that, nor before PostgreSQL 14.
SELECT set_config('client_connection_check_interval', '${idle}', false)
WHERE current_setting('client_connection_check_interval', true) = '0'

-- name: clock
SELECT ${now} AS now_is

-- name: inspect
-- A lock, the newest of those who share it, and the first of its queue, by one statement: several would see several
-- moments.
SELECT 0 AS part, claim_id, owner, token AS number, lease_end, ${now} AS now_is, 0 AS units, 0 AS many, 0 AS all_units
FROM ${lock} WHERE lock_key = ? AND claim_id IS NOT NULL AND lease_end > ${now}
UNION ALL
SELECT 1, claim_id, owner, number, lease_end, now_is, units, many, all_units FROM (
    SELECT s.claim_id, s.owner, s.token AS number, s.lease_end, ${now} AS now_is, s.units,
        count(*) OVER () AS many, sum(s.units) OVER () AS all_units
    FROM ${share} s JOIN ${lock} l ON l.lock_key = s.lock_key
    WHERE s.lock_key = ? AND s.lease_end > ${now} AND l.claim_id = '=' AND l.lease_end > ${now}
    ORDER BY s.token DESC LIMIT 100) h
UNION ALL
SELECT 2, claim_id, owner, number, lease_end, now_is, units, many, all_units FROM (
    SELECT w.claim_id, w.owner, w.place AS number, w.alive_until AS lease_end, ${now} AS now_is, w.units,
        count(*) OVER () AS many, 0 AS all_units
    FROM ${waiter} w WHERE w.lock_key = ? AND w.alive_until > ${now} ORDER BY w.place LIMIT 100) q

-- name: probe
-- Changes nothing, and is refused where writes are.
DELETE FROM ${lock} WHERE lock_key = ? AND 1 = 0

-- name: is_current
SELECT count(*) AS found FROM ${lock} l WHERE lock_key = ? AND claim_id IS NOT NULL AND lease_end > ${now}
    AND ((claim_id <> '=' AND token = ?) OR (claim_id = '=' AND EXISTS (
        SELECT 1 FROM ${share} s WHERE s.lock_key = l.lock_key AND s.token = ? AND s.lease_end > ${now})))

-- name: list
SELECT ${bytes:lock_key}, claim_id, owner, client, token, lease_end, waiting, places, watched_until, ${now} AS now_is,
    (SELECT count(*) FROM ${waiter} w WHERE w.lock_key = l.lock_key AND w.alive_until > ${now}) AS waiters
FROM ${lock} l WHERE lock_key >= ? AND lock_key < ? AND claim_id IS NOT NULL AND lease_end > ${now}
ORDER BY lock_key LIMIT 500

-- name: grant
UPDATE ${lock} SET claim_id = ?, owner = ?, client = ?, token = ?, lease_end = ?, waiting = ? WHERE lock_key = ?

-- name: extend
UPDATE ${lock} SET lease_end = ? WHERE lock_key = ?

-- name: free
UPDATE ${lock} SET claim_id = NULL, owner = NULL, client = NULL, lease_end = ?, waiting = 0 WHERE lock_key = ?

-- name: release postgresql
UPDATE ${lock} SET claim_id = NULL, owner = NULL, client = NULL, lease_end = ${now}
WHERE lock_key = ? AND claim_id = ? AND ${now} BETWEEN watched_until + 1 AND lease_end - 1 AND waiting = 0
    AND set_config('lock_timeout', '${patience}', true) IS NOT NULL

-- name: release_unflushed postgresql
-- Does not wait for the disk. A crash of the server may forget it, and then the lock is free when its lease ends; what
-- gives a lock to somebody waits for the disk, and for all that was committed before it.
UPDATE ${lock} SET claim_id = NULL, owner = NULL, client = NULL, lease_end = ${now}
WHERE lock_key = ? AND claim_id = ? AND ${now} BETWEEN watched_until + 1 AND lease_end - 1 AND waiting = 0
    AND set_config('lock_timeout', '${patience}', true) || set_config('synchronous_commit', 'off', true) IS NOT NULL

-- name: release mariadb
UPDATE ${lock} SET claim_id = NULL, owner = NULL, client = NULL, lease_end = ${now}
WHERE lock_key = ? AND claim_id = ? AND lease_end > ${now} AND waiting = 0 AND watched_until < ${now}

-- name: release
UPDATE ${lock} SET claim_id = NULL, owner = NULL, client = NULL, lease_end = ${now}
WHERE lock_key = ? AND claim_id = ? AND lease_end > ${now} AND waiting = 0 AND watched_until < ${now}

-- name: outlast postgresql
-- Leaves a lock to another claim, whose lease begins.
UPDATE ${lock} SET claim_id = ?, lease_end = ${now} + ?
WHERE lock_key = ? AND claim_id IN (?, ?) AND lease_end > ${now}
    AND set_config('lock_timeout', '${patience}', true) IS NOT NULL

-- name: outlast mariadb
UPDATE ${lock} SET claim_id = ?, lease_end = ${now} + ?
WHERE lock_key = ? AND claim_id IN (?, ?) AND lease_end > ${now}

-- name: outlast
UPDATE ${lock} SET claim_id = ?, lease_end = ${now} + ?
WHERE lock_key = ? AND claim_id IN (?, ?) AND lease_end > ${now}

-- name: place
UPDATE ${lock} SET waiting = 1, places = ? WHERE lock_key = ?

-- name: places
SELECT coalesce(max(place), 0) AS taken FROM ${waiter} WHERE lock_key = ?

-- name: next
SELECT claim_id, owner, client, lease, place, units, capacity FROM ${waiter}
WHERE lock_key = ? AND alive_until > ? ORDER BY place LIMIT 2

-- name: queue
SELECT claim_id, owner, client, lease, place, units, capacity FROM ${waiter}
WHERE lock_key = ? AND alive_until > ? ORDER BY place LIMIT 101

-- name: enqueue postgresql
INSERT INTO ${waiter} (claim_id, lock_key, place, owner, client, lease, alive_until, units, capacity)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (claim_id) DO UPDATE SET alive_until = excluded.alive_until

-- name: enqueue mariadb
INSERT INTO ${waiter} (claim_id, lock_key, place, owner, client, lease, alive_until, units, capacity)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
ON DUPLICATE KEY UPDATE alive_until = VALUES(alive_until)

-- name: enqueue h2
MERGE INTO ${waiter} AS w
USING (VALUES (CAST(? AS VARCHAR), CAST(? AS VARBINARY(512)), CAST(? AS BIGINT), CAST(? AS VARCHAR), CAST(? AS VARCHAR),
    CAST(? AS BIGINT), CAST(? AS BIGINT), CAST(? AS BIGINT), CAST(? AS BIGINT)))
    AS n (claim_id, lock_key, place, owner, client, lease, alive_until, units, capacity)
ON w.claim_id = n.claim_id
WHEN MATCHED THEN UPDATE SET alive_until = n.alive_until
WHEN NOT MATCHED THEN INSERT (claim_id, lock_key, place, owner, client, lease, alive_until, units, capacity)
VALUES (n.claim_id, n.lock_key, n.place, n.owner, n.client, n.lease, n.alive_until, n.units, n.capacity)

-- name: leave
DELETE FROM ${waiter} WHERE claim_id = ?

-- name: leave_quietly
-- Leaves the queue without the lock's row, unless a share stands behind that may fit then.
DELETE FROM ${waiter} WHERE claim_id = ? AND blocks = 0

-- name: leave_quietly mariadb
DELETE FROM ${waiter} WHERE claim_id = ? AND blocks = 0

-- name: leave_dead
DELETE FROM ${waiter} WHERE lock_key = ? AND alive_until <= ?

-- name: leave_dead mariadb
-- Along the key, because a scan would wait for rows of other locks.
DELETE w FROM ${waiter} w FORCE INDEX (lock_key) WHERE lock_key = ? AND alive_until <= ?

-- name: leave_all
DELETE FROM ${waiter} WHERE claim_id ${ids}

-- name: leave_all mariadb
DELETE w FROM ${waiter} w FORCE INDEX (PRIMARY) WHERE claim_id ${ids}

-- name: revive
UPDATE ${waiter} SET alive_until = ? WHERE claim_id = ?

-- name: block
-- A claim that leaves does not lock the lock's row, so a share that stands behind it marks its row. One of the two
-- waits for the other: the claim is gone when the queue is read, or it finds the mark when it leaves.
UPDATE ${waiter} SET blocks = 1 WHERE lock_key = ? AND blocks = 0

-- name: block mariadb
UPDATE ${waiter} FORCE INDEX (lock_key) SET blocks = 1 WHERE lock_key = ? AND blocks = 0

-- name: expire
DELETE FROM ${share} WHERE lock_key = ? AND lease_end <= ?

-- name: expire mariadb
DELETE s FROM ${share} s FORCE INDEX (lock_key) WHERE lock_key = ? AND lease_end <= ?

-- name: in_use
SELECT CAST(coalesce(sum(units), 0) AS BIGINT) AS units, coalesce(min(lease_end), 0) AS first_end,
    coalesce(max(lease_end), 0) AS last_end FROM ${share} WHERE lock_key = ?

-- name: in_use mariadb
SELECT CAST(coalesce(sum(units), 0) AS SIGNED) AS units, coalesce(min(lease_end), 0) AS first_end,
    coalesce(max(lease_end), 0) AS last_end FROM ${share} WHERE lock_key = ?

-- name: share_of
SELECT claim_id, client, units, token FROM ${share} WHERE claim_id IN (?, ?) AND lease_end > ?

-- name: share_with
SELECT claim_id, client, units, token FROM ${share} WHERE lock_key = ? AND token = ? AND lease_end > ?

-- name: share_in
INSERT INTO ${share} (claim_id, lock_key, units, token, owner, client, lease_end) VALUES (?, ?, ?, ?, ?, ?, ?)

-- name: share_served
-- Tokens rise with the places.
INSERT INTO ${share} (claim_id, lock_key, units, token, owner, client, lease_end)
SELECT claim_id, lock_key, units, place + ?, owner, client, lease + ? FROM ${waiter} WHERE claim_id ${ids}

-- name: share_out
DELETE FROM ${share} WHERE claim_id = ?

-- name: share_extend
UPDATE ${share} SET claim_id = ?, lease_end = ? WHERE claim_id = ?

-- name: shared
UPDATE ${lock} SET claim_id = '=', owner = NULL, client = NULL, token = ?, lease_end = ?, waiting = ? WHERE lock_key = ?

-- name: tell_served postgresql
SELECT CAST(pg_notify('reactive_lock.' || client, 'grant ' || claim_id || ' ' || token) AS TEXT) AS told
FROM ${share} WHERE client <> ? AND claim_id ${ids}

-- name: record_served
INSERT INTO ${event} (lock_key, number, owner, happened_at, token, units)
SELECT lock_key, 2 * token, owner, ?, token, units FROM ${share} WHERE claim_id ${ids}

-- name: raise
UPDATE ${lock} SET token = ? WHERE lock_key = ?

-- name: shares_granted
SELECT ${bytes:s.lock_key}, s.claim_id, s.token FROM ${share} s JOIN ${lock} l ON l.lock_key = s.lock_key
WHERE s.claim_id ${ids} AND s.lease_end > ${now} AND l.claim_id = '='

-- name: shares_lock
SELECT ${bytes:lock_key} FROM ${lock} WHERE lock_key ${keys} AND claim_id = '=' FOR UPDATE SKIP LOCKED

-- name: shares_lock postgresql
WITH patience AS MATERIALIZED (
    SELECT set_config('lock_timeout', '${patience}', true), set_config('idle_in_transaction_session_timeout', '${idle}', true)
)
SELECT ${bytes:lock_key} FROM ${lock} WHERE lock_key ${keys} AND claim_id = '=' AND EXISTS (SELECT 1 FROM patience)
FOR UPDATE SKIP LOCKED

-- name: shares_lock mariadb
SELECT ${bytes:lock_key} FROM ${lock} FORCE INDEX (PRIMARY) WHERE lock_key ${keys} AND claim_id = '=' FOR UPDATE SKIP LOCKED

-- name: shares_mine
SELECT ${bytes:lock_key}, claim_id, token FROM ${share} WHERE claim_id ${ids} AND lease_end > ${now}

-- name: shares_renew postgresql
UPDATE ${share} s SET lease_end = ? + a.lease FROM unnest(CAST(? AS VARCHAR[]), CAST(? AS BIGINT[])) AS a (id, lease)
WHERE s.claim_id = a.id

-- name: shares_renew mariadb
UPDATE ${share} FORCE INDEX (PRIMARY) SET lease_end = ? + ${leases} WHERE claim_id ${ids}

-- name: shares_renew h2
UPDATE ${share} SET lease_end = ? + ${leases} WHERE claim_id ${ids}

-- name: shares_mark
-- The end of the last of them, which may come sooner than it was to: the clock may have been set back, or a lease be
-- shorter.
UPDATE ${lock} AS l SET lease_end = (SELECT max(s.lease_end) FROM ${share} s WHERE s.lock_key = l.lock_key)
WHERE lock_key ${keys}

-- name: shares_mark mariadb
UPDATE ${lock} l FORCE INDEX (PRIMARY)
SET lease_end = (SELECT max(s.lease_end) FROM ${share} s WHERE s.lock_key = l.lock_key) WHERE lock_key ${keys}

-- name: prolong postgresql
-- Lets leases start anew, each its own. A row that another transaction has locked is passed over: it costs its own hold
-- only.
WITH asked AS MATERIALIZED (
    SELECT decode(k, 'hex') AS lock_key, id, lease
    FROM unnest(CAST(? AS VARCHAR[]), CAST(? AS VARCHAR[]), CAST(? AS BIGINT[])) AS a (k, id, lease)
), mine AS MATERIALIZED (
    SELECT l.lock_key, a.lease FROM ${lock} l JOIN asked a ON l.lock_key = a.lock_key AND l.claim_id = a.id
    WHERE l.lease_end > ${now} FOR UPDATE OF l SKIP LOCKED
), renewed AS (
    UPDATE ${lock} l SET lease_end = ${now} + m.lease FROM mine m WHERE l.lock_key = m.lock_key
    RETURNING l.claim_id
)
SELECT coalesce(string_agg(claim_id, ' '), '') AS claim_ids FROM renewed

-- name: prolong mariadb
-- Along the key, because a scan would lock rows of others for a moment.
BEGIN NOT ATOMIC
    DECLARE now_is BIGINT;
    DECLARE renewed LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE EXIT HANDLER FOR SQLEXCEPTION
    BEGIN
        ROLLBACK;
        RESIGNAL;
    END;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
    START TRANSACTION;
    SET now_is = ${now};
    FOR mine IN (
        SELECT lock_key, claim_id FROM ${lock} FORCE INDEX (PRIMARY)
        WHERE lock_key ${keys} AND claim_id ${ids} AND lease_end > now_is FOR UPDATE SKIP LOCKED)
    DO
        UPDATE ${lock} SET lease_end = now_is + ${leases} WHERE lock_key = mine.lock_key;
        SET renewed = concat_ws(' ', renewed, mine.claim_id);
    END FOR;
    COMMIT;
    SELECT renewed AS claim_ids;
END

-- name: mine
SELECT claim_id FROM ${lock} WHERE lock_key ${keys} AND claim_id ${ids} AND lease_end > ${now}
FOR UPDATE SKIP LOCKED

-- name: mine mariadb
SELECT claim_id FROM ${lock} FORCE INDEX (PRIMARY)
WHERE lock_key ${keys} AND claim_id ${ids} AND lease_end > ${now} FOR UPDATE SKIP LOCKED

-- name: renew
UPDATE ${lock} SET lease_end = ${now} + ${leases} WHERE lock_key ${keys} AND claim_id ${ids}

-- name: renew mariadb
UPDATE ${lock} FORCE INDEX (PRIMARY) SET lease_end = ${now} + ${leases} WHERE lock_key ${keys} AND claim_id ${ids}

-- name: bound mariadb
-- MySQL ends no transaction whose client stopped, and no statement that changes something. In safe mode MariaDB
-- refuses a DELETE of several keys that names its index, as such statements have to, or they would lock rows of others.
SET @reactive_lock_rows = @@SESSION.innodb_lock_wait_timeout, @reactive_lock_tables = @@SESSION.lock_wait_timeout,
    @reactive_lock_safe = @@SESSION.sql_safe_updates, SESSION sql_safe_updates = 0,
    /*M! @reactive_lock_idle = @@SESSION.idle_transaction_timeout, @reactive_lock_longest = @@SESSION.max_statement_time,
    SESSION idle_transaction_timeout = ${patience}, SESSION max_statement_time = ${longest}, */
    SESSION innodb_lock_wait_timeout = ${patience}, SESSION lock_wait_timeout = ${patience}

-- name: unbound mariadb
SET /*M! SESSION idle_transaction_timeout = @reactive_lock_idle, SESSION max_statement_time = @reactive_lock_longest, */
    SESSION innodb_lock_wait_timeout = @reactive_lock_rows, SESSION lock_wait_timeout = @reactive_lock_tables,
    SESSION sql_safe_updates = @reactive_lock_safe

-- name: owners
SELECT ${bytes:lock_key}, claim_id, token FROM ${lock} WHERE lock_key ${keys} AND claim_id IS NOT NULL AND lease_end > ${now}

-- name: notify
SELECT pg_notify(?, ?)

-- name: recall
-- Tells an owner that can be called back (Recalls): another claim waits for its lock.
SELECT CAST(pg_notify('reactive_lock.' || client, 'recall ' || claim_id || ' 0') AS TEXT) AS told
FROM ${lock} WHERE lock_key = ? AND claim_id LIKE '%!' AND lease_end > ${now}

-- name: recallable mariadb
-- Where a notification cannot be sent: which claim and whose it is.
SELECT claim_id, client FROM ${lock} WHERE lock_key = ? AND claim_id LIKE '%!' AND lease_end > ${now}

-- name: waited
SELECT count(*) AS found FROM ${waiter} WHERE lock_key = ? AND alive_until > ${now}

-- name: record
INSERT INTO ${event} (lock_key, number, owner, happened_at, token, units) VALUES (?, ?, ?, ?, ?, ?)

-- name: watch
UPDATE ${lock} SET watched_until = greatest(watched_until, ${now} + ?) WHERE lock_key = ?

-- name: watch_on
UPDATE ${lock} SET watched_until = greatest(watched_until, ${now} + ?) WHERE lock_key = ? AND watched_until > ${now}

-- name: watch_on mariadb
UPDATE ${lock} SET watched_until = greatest(watched_until, ${now} + ?) WHERE lock_key = ? AND watched_until > ${now}

-- name: note mariadb
-- A client whose listener is to be rung for, at a lock that it watches; or at the name of a listener a claim of its
-- client that was released by force, or is called back. The number is below zero, so it is no event, and goes as old
-- events go.
INSERT INTO ${event} (lock_key, number, owner, happened_at, token, units) VALUES (?, ?, ?, ${now} + ?, 0, 0)
ON DUPLICATE KEY UPDATE happened_at = VALUES(happened_at)

-- name: noted mariadb
DELETE FROM ${event} WHERE lock_key = ? AND number = ?

-- name: watchers mariadb
SELECT owner AS client FROM ${event} WHERE lock_key = ? AND number < 0 AND happened_at > ${now}

-- name: watch_told
SELECT token, claim_id, (SELECT coalesce(max(e.number), 0) FROM ${event} e WHERE e.lock_key = l.lock_key) AS newest
FROM ${lock} l WHERE lock_key = ?

-- name: events
SELECT number, owner, token, units FROM ${event} WHERE lock_key = ? AND number > ? ORDER BY number

-- name: clean_waiters postgresql
DELETE FROM ${waiter} WHERE alive_until < ${now} - ? AND claim_id IN (
    SELECT claim_id FROM ${waiter} WHERE alive_until < ${now} - ? LIMIT 1000)

-- name: clean_waiters mariadb
DELETE FROM ${waiter} WHERE alive_until < ${now} - ? LIMIT 1000

-- name: clean_waiters h2
DELETE FROM ${waiter} WHERE alive_until < ${now} - ? FETCH FIRST 1000 ROWS ONLY

-- name: clean_shares postgresql
DELETE FROM ${share} WHERE lease_end < ${now} - ? AND claim_id IN (
    SELECT claim_id FROM ${share} WHERE lease_end < ${now} - ? LIMIT 1000)

-- name: clean_shares mariadb
DELETE FROM ${share} WHERE lease_end < ${now} - ? LIMIT 1000

-- name: clean_shares h2
DELETE FROM ${share} WHERE lease_end < ${now} - ? FETCH FIRST 1000 ROWS ONLY

-- name: clean_events postgresql
DELETE FROM ${event} WHERE happened_at < ${now} - ? AND (lock_key, number) IN (
    SELECT lock_key, number FROM ${event} WHERE happened_at < ${now} - ? LIMIT 1000)

-- name: clean_events mariadb
DELETE FROM ${event} WHERE happened_at < ${now} - ? LIMIT 1000

-- name: clean_events h2
DELETE FROM ${event} WHERE happened_at < ${now} - ? FETCH FIRST 1000 ROWS ONLY

-- name: outdated
SELECT ${bytes:lock_key} FROM ${lock} WHERE lock_key > ? AND lease_end < ${now} - ? AND watched_until < ${now}
ORDER BY lock_key LIMIT ?

-- name: clean
DELETE FROM ${lock} WHERE lock_key ${keys} AND lease_end < ${now} - ? AND watched_until < ${now}
    AND NOT EXISTS (SELECT 1 FROM ${waiter} w WHERE w.lock_key = ${lock}.lock_key)

-- name: clean mariadb
DELETE l FROM ${lock} l FORCE INDEX (PRIMARY)
WHERE lock_key ${keys} AND lease_end < ${now} - ? AND watched_until < ${now}
    AND NOT EXISTS (SELECT 1 FROM ${waiter} w WHERE w.lock_key = l.lock_key)

-- name: fence postgresql
INSERT INTO ${fence} AS f (resource, token) VALUES (?, ?)
ON CONFLICT (resource) DO UPDATE SET token = greatest(f.token, excluded.token)

-- name: fence mariadb
-- MariaDB ends a transaction that read before another one wrote this, from 11.6 on unless it is told not to look. It
-- waits for a table as a command does, and for a row as the application's transaction.
/*M! SET STATEMENT lock_wait_timeout = ${patience} *//*M!110402 , innodb_snapshot_isolation = OFF *//*M! FOR */
INSERT INTO ${fence} (resource, token) VALUES (?, ?) ON DUPLICATE KEY UPDATE token = greatest(token, VALUES(token))

-- name: fence h2
MERGE INTO ${fence} AS f USING (VALUES (CAST(? AS VARBINARY(512)), CAST(? AS BIGINT))) AS n (resource, token)
ON f.resource = n.resource
WHEN MATCHED THEN UPDATE SET token = greatest(f.token, n.token)
WHEN NOT MATCHED THEN INSERT (resource, token) VALUES (n.resource, n.token)

-- name: fenced mariadb
/*M! SET STATEMENT lock_wait_timeout = ${patience} *//*M!110402 , innodb_snapshot_isolation = OFF *//*M! FOR */
SELECT token FROM ${fence} WHERE resource = ? FOR UPDATE

-- name: fenced
-- As it was committed last: without the lock a snapshot would hide it, in MariaDB at REPEATABLE READ.
SELECT token FROM ${fence} WHERE resource = ? FOR UPDATE

-- name: row_take postgresql
-- Locks the row for the transaction, and waits for it as long as the parameter says and not longer.
WITH patience AS MATERIALIZED (
    SELECT set_config('reactive_lock.before', current_setting('lock_timeout'), true),
        set_config('lock_timeout', ?, true))
INSERT INTO ${row} AS r (row_key, locked_at) SELECT CAST(? AS BYTEA), ${now} FROM patience
ON CONFLICT (row_key) DO UPDATE SET locked_at = greatest(r.locked_at + 1, excluded.locked_at)

-- name: row_taken postgresql
SELECT set_config('lock_timeout', current_setting('reactive_lock.before'), true)

-- name: row_take mariadb
/*M! SET STATEMENT lock_wait_timeout = ${seconds}, innodb_lock_wait_timeout = ${seconds} */
/*M!110402 , innodb_snapshot_isolation = OFF *//*M! FOR */
INSERT INTO ${row} (row_key, locked_at) VALUES (?, ${now})
ON DUPLICATE KEY UPDATE locked_at = greatest(locked_at + 1, VALUES(locked_at))

-- name: row_bound mariadb
-- In MySQL no statement says how long it waits for a row, or for a table.
SET @reactive_lock_row = @@SESSION.innodb_lock_wait_timeout, @reactive_lock_row_table = @@SESSION.lock_wait_timeout,
    SESSION innodb_lock_wait_timeout = ${seconds}, SESSION lock_wait_timeout = ${seconds}

-- name: row_unbound mariadb
SET SESSION innodb_lock_wait_timeout = @reactive_lock_row, SESSION lock_wait_timeout = @reactive_lock_row_table

-- name: row_hold mariadb
-- The same lock without a change, so that a snapshot of the transaction can be compared with what was committed last.
/*M! SET STATEMENT lock_wait_timeout = ${seconds}, innodb_lock_wait_timeout = ${seconds} */
/*M!110402 , innodb_snapshot_isolation = OFF *//*M! FOR */
INSERT INTO ${row} (row_key, locked_at) VALUES (?, ${now}) ON DUPLICATE KEY UPDATE row_key = VALUES(row_key)

-- name: row_seen mariadb
${latest}
SELECT locked_at, (SELECT s.locked_at FROM ${row} s WHERE s.row_key = ?) AS seen_at
FROM ${row} WHERE row_key = ? FOR UPDATE

-- name: row_take h2
MERGE INTO ${row} AS r USING (VALUES (CAST(? AS VARBINARY(512)), ${now})) AS n (row_key, locked_at)
ON r.row_key = n.row_key
WHEN MATCHED THEN UPDATE SET locked_at = greatest(r.locked_at + 1, n.locked_at)
WHEN NOT MATCHED THEN INSERT (row_key, locked_at) VALUES (n.row_key, n.locked_at)

-- name: row_outdated
SELECT ${bytes:row_key} FROM ${row} WHERE locked_at < ${now} - ? ORDER BY locked_at LIMIT 500 FOR UPDATE SKIP LOCKED

-- name: row_remove
-- Key by key: for a list MariaDB may scan the table, and would wait for rows that others have locked.
DELETE FROM ${row} WHERE row_key = ?

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

-- name: once_renew
-- Never shortens: one that comes late finds the time of a key whose work has completed.
UPDATE ${once} SET expires = greatest(expires, ${now} + ?) WHERE once_key = ? AND run_id = ?

-- name: once_renew mariadb
UPDATE ${once} SET expires = greatest(expires, ${now} + ?) WHERE once_key = ? AND run_id = ?

-- name: once_done
UPDATE ${once} SET expires = ${now} + ? WHERE once_key = ? AND run_id = ?

-- name: once_done mariadb
UPDATE ${once} SET expires = ${now} + ? WHERE once_key = ? AND run_id = ?

-- name: once_outcome
UPDATE ${once} SET outcome = ?, expires = ${now} + ? WHERE once_key = ? AND run_id = ?

-- name: once_outcome mariadb
UPDATE ${once} SET outcome = ?, expires = ${now} + ? WHERE once_key = ? AND run_id = ?

-- name: once_undo
DELETE FROM ${once} WHERE once_key = ? AND run_id = ?

-- name: once_undo mariadb
DELETE FROM ${once} WHERE once_key = ? AND run_id = ?

-- name: once_outdated
SELECT ${bytes:once_key} FROM ${once} WHERE expires <= ${now} - ? ORDER BY expires LIMIT 500 FOR UPDATE SKIP LOCKED

-- name: once_remove
DELETE FROM ${once} WHERE once_key = ?

-- name: advisory_take postgresql
SELECT pg_try_advisory_xact_lock(hashtextextended(?, 0)) AS taken

-- name: advisory_keep postgresql
SELECT pg_try_advisory_lock(hashtextextended(?, 0)) AS taken

-- name: advisory_free postgresql
SELECT pg_advisory_unlock(hashtextextended(?, 0)) AS taken
