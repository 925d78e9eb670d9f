-- liquibase formatted sql
-- changeset reactive-lock:1
-- Tables of reactive-lock in MariaDB and MySQL. For Flyway and Liquibase as it is, and for createTables(), which puts
-- another prefix in place of reactive_lock. Times are microseconds since 2020-01-01 UTC by the database's clock.
CREATE TABLE IF NOT EXISTS reactive_lock (
    lock_key      VARBINARY(512) PRIMARY KEY,
    claim_id      VARCHAR(64),
    owner         VARCHAR(200),
    client        VARCHAR(64),
    token         BIGINT NOT NULL,
    lease_end     BIGINT NOT NULL,
    waiting       BIGINT NOT NULL,
    places        BIGINT NOT NULL,
    watched_until BIGINT NOT NULL
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;
CREATE TABLE IF NOT EXISTS reactive_lock_waiter (
    claim_id      VARCHAR(64) PRIMARY KEY,
    lock_key      VARBINARY(512) NOT NULL,
    place         BIGINT NOT NULL,
    owner         VARCHAR(200) NOT NULL,
    client        VARCHAR(64) NOT NULL,
    lease         BIGINT NOT NULL,
    alive_until   BIGINT NOT NULL,
    units         BIGINT NOT NULL DEFAULT 2147483647,
    capacity      BIGINT NOT NULL DEFAULT 2147483647,
    blocks        BIGINT NOT NULL DEFAULT 0,
    UNIQUE (lock_key, place)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;
CREATE TABLE IF NOT EXISTS reactive_lock_share (
    claim_id      VARCHAR(64) PRIMARY KEY,
    lock_key      VARBINARY(512) NOT NULL,
    units         BIGINT NOT NULL,
    token         BIGINT NOT NULL,
    owner         VARCHAR(200) NOT NULL,
    client        VARCHAR(64) NOT NULL,
    lease_end     BIGINT NOT NULL,
    UNIQUE (lock_key, token)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;
CREATE TABLE IF NOT EXISTS reactive_lock_event (
    lock_key      VARBINARY(512) NOT NULL,
    number        BIGINT NOT NULL,
    owner         VARCHAR(200) NOT NULL,
    happened_at   BIGINT NOT NULL,
    token         BIGINT NOT NULL,
    units         BIGINT NOT NULL,
    PRIMARY KEY (lock_key, number),
    INDEX (happened_at)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;
CREATE TABLE IF NOT EXISTS reactive_lock_fence (
    resource      VARBINARY(512) PRIMARY KEY,
    token         BIGINT NOT NULL
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;
CREATE TABLE IF NOT EXISTS reactive_lock_row (
    row_key       VARBINARY(512) PRIMARY KEY,
    locked_at     BIGINT NOT NULL,
    INDEX (locked_at)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;
CREATE TABLE IF NOT EXISTS reactive_lock_once (
    once_key      VARBINARY(512) PRIMARY KEY,
    run_id        VARCHAR(64) NOT NULL,
    expires       BIGINT NOT NULL,
    outcome       LONGTEXT,
    INDEX (expires)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;
