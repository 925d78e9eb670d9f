package io.github.reactivelock.r2dbc;

import io.r2dbc.spi.Batch;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.ConnectionMetadata;
import io.r2dbc.spi.IsolationLevel;
import io.r2dbc.spi.Statement;
import io.r2dbc.spi.TransactionDefinition;
import io.r2dbc.spi.ValidationDepth;
import io.r2dbc.spi.Wrapped;
import java.time.Duration;
import org.reactivestreams.Publisher;

/**
 * A connection of MySQL's driver that a pool of ours gets. Between two users the driver wants a pool to roll back what
 * is open, and pings the server where nothing is, which every command would wait for. A command of ours leaves nothing
 * open: it commits, rolls back or throws its connection away.
 */
record WithoutLifecycle(Connection unwrap) implements Connection, Wrapped<Connection> {

    @Override
    public Publisher<Void> beginTransaction() {
        return unwrap.beginTransaction();
    }

    @Override
    public Publisher<Void> beginTransaction(TransactionDefinition definition) {
        return unwrap.beginTransaction(definition);
    }

    @Override
    public Publisher<Void> close() {
        return unwrap.close();
    }

    @Override
    public Publisher<Void> commitTransaction() {
        return unwrap.commitTransaction();
    }

    @Override
    public Batch createBatch() {
        return unwrap.createBatch();
    }

    @Override
    public Publisher<Void> createSavepoint(String name) {
        return unwrap.createSavepoint(name);
    }

    @Override
    public Statement createStatement(String sql) {
        return unwrap.createStatement(sql);
    }

    @Override
    public ConnectionMetadata getMetadata() {
        return unwrap.getMetadata();
    }

    @Override
    public IsolationLevel getTransactionIsolationLevel() {
        return unwrap.getTransactionIsolationLevel();
    }

    @Override
    public boolean isAutoCommit() {
        return unwrap.isAutoCommit();
    }

    @Override
    public Publisher<Void> releaseSavepoint(String name) {
        return unwrap.releaseSavepoint(name);
    }

    @Override
    public Publisher<Void> rollbackTransaction() {
        return unwrap.rollbackTransaction();
    }

    @Override
    public Publisher<Void> rollbackTransactionToSavepoint(String name) {
        return unwrap.rollbackTransactionToSavepoint(name);
    }

    @Override
    public Publisher<Void> setAutoCommit(boolean autoCommit) {
        return unwrap.setAutoCommit(autoCommit);
    }

    @Override
    public Publisher<Void> setLockWaitTimeout(Duration timeout) {
        return unwrap.setLockWaitTimeout(timeout);
    }

    @Override
    public Publisher<Void> setStatementTimeout(Duration timeout) {
        return unwrap.setStatementTimeout(timeout);
    }

    @Override
    public Publisher<Void> setTransactionIsolationLevel(IsolationLevel level) {
        return unwrap.setTransactionIsolationLevel(level);
    }

    @Override
    public Publisher<Boolean> validate(ValidationDepth depth) {
        return unwrap.validate(depth);
    }
}
