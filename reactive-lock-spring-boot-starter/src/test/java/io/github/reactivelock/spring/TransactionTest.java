package io.github.reactivelock.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static reactor.core.publisher.Sinks.EmitFailureHandler.FAIL_FAST;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.github.reactivelock.LockClient;
import io.r2dbc.h2.H2ConnectionFactory;
import io.r2dbc.h2.H2ConnectionOption;
import io.r2dbc.spi.ConnectionFactory;
import java.time.Duration;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.r2dbc.connection.R2dbcTransactionManager;
import org.springframework.r2dbc.core.DatabaseClient;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.reactive.GenericReactiveTransaction;
import org.springframework.transaction.reactive.TransactionSynchronizationManager;
import org.springframework.transaction.reactive.TransactionalOperator;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** The lock is released when the transaction has ended, wherever that is declared and whatever its order. */
class TransactionTest {

    private static final Duration PATIENCE = Duration.ofMinutes(1);

    interface Rows {

        Mono<Void> insert(long id);

        Flux<Integer> insertMany(long id);

        Mono<Void> fail(long id);
    }

    static class ByMethod implements Rows {

        final DatabaseClient db;

        ByMethod(DatabaseClient db) {
            this.db = db;
        }

        @Override
        @Transactional
        @WithLock(name = "row", key = "#id")
        public Mono<Void> insert(long id) {
            return db.sql("INSERT INTO t VALUES (" + id + ")").then();
        }

        @Override
        @WithLock(name = "row", key = "#id")
        @Transactional
        public Flux<Integer> insertMany(long id) {
            return db.sql("INSERT INTO t VALUES (" + id + ")")
                    .fetch()
                    .rowsUpdated()
                    .map(Long::intValue)
                    .flux();
        }

        @Override
        @Transactional
        @WithLock(name = "row", key = "#id")
        public Mono<Void> fail(long id) {
            return db.sql("INSERT INTO t VALUES (" + id + ")").then().then(Mono.error(new IllegalStateException("no")));
        }
    }

    @Transactional
    static class ByClass implements Rows {

        final DatabaseClient db;

        ByClass(DatabaseClient db) {
            this.db = db;
        }

        @Override
        @WithLock(name = "row", key = "#id")
        public Mono<Void> insert(long id) {
            return db.sql("INSERT INTO t VALUES (" + id + ")").then();
        }

        @Override
        @WithLock(name = "row", key = "#id")
        public Flux<Integer> insertMany(long id) {
            return db.sql("INSERT INTO t VALUES (" + id + ")")
                    .fetch()
                    .rowsUpdated()
                    .map(Long::intValue)
                    .flux();
        }

        @Override
        @WithLock(name = "row", key = "#id")
        public Mono<Void> fail(long id) {
            return db.sql("INSERT INTO t VALUES (" + id + ")").then().then(Mono.error(new IllegalStateException("no")));
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Database {

        @Bean
        ConnectionFactory connections() {
            return H2ConnectionFactory.inMemory(
                    UUID.randomUUID().toString(), "sa", "", Map.of(H2ConnectionOption.DB_CLOSE_DELAY, "-1"));
        }

        @Bean
        DatabaseClient databaseClient(ConnectionFactory connections) {
            return DatabaseClient.create(connections);
        }

        @Bean
        SlowTransactions transactions(ConnectionFactory connections) {
            return new SlowTransactions(connections);
        }
    }

    /** Transactions that end when the test says so. */
    static class SlowTransactions extends R2dbcTransactionManager {

        private static final long serialVersionUID = 1;

        final transient Sinks.One<String> ending = Sinks.one();
        final transient Sinks.Empty<Void> end = Sinks.empty();

        SlowTransactions(ConnectionFactory connections) {
            super(connections);
        }

        @Override
        protected Mono<Void> doCommit(TransactionSynchronizationManager manager, GenericReactiveTransaction status) {
            return ended("commit").then(super.doCommit(manager, status));
        }

        @Override
        protected Mono<Void> doRollback(TransactionSynchronizationManager manager, GenericReactiveTransaction status) {
            return ended("rollback").then(super.doRollback(manager, status));
        }

        private Mono<Void> ended(String how) {
            return Mono.defer(() -> {
                ending.emitValue(how, FAIL_FAST);
                return end.asMono();
            });
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableTransactionManagement
    static class AnyOrder {}

    @Configuration(proxyBeanMethods = false)
    @EnableTransactionManagement(order = Ordered.HIGHEST_PRECEDENCE)
    static class FirstOfAll {}

    @Configuration(proxyBeanMethods = false)
    @EnableTransactionManagement(order = 5, proxyTargetClass = true)
    static class Fifth {}

    @Test
    void ofAMethodInAnyOrder() {
        isReleasedAfterTheTransaction(ByMethod.class, AnyOrder.class);
    }

    @Test
    void ofAClassInAnyOrder() {
        isReleasedAfterTheTransaction(ByClass.class, AnyOrder.class);
    }

    @Test
    void ofAMethodWhoseTransactionComesFirstOfAll() {
        isReleasedAfterTheTransaction(ByMethod.class, FirstOfAll.class);
    }

    @Test
    void ofAClassWhoseTransactionComesFirstOfAll() {
        isReleasedAfterTheTransaction(ByClass.class, FirstOfAll.class);
    }

    @Test
    void ofASubclassProxyWithAnOrder() {
        isReleasedAfterTheTransaction(ByClass.class, Fifth.class);
    }

    @Test
    void aTransactionOfTheCallerIsSaidOnce() {
        Logger log = (Logger) LoggerFactory.getLogger(WithLock.class);
        ListAppender<ILoggingEvent> said = new ListAppender<>();
        said.start();
        log.addAppender(said);
        try (var context = context(ByMethod.class, AnyOrder.class)) {
            var transactions = context.getBean(SlowTransactions.class);
            var operator = TransactionalOperator.create(transactions);
            transactions.end.emitEmpty(FAIL_FAST);
            Rows rows = context.getBean(Rows.class);
            context.getBean(DatabaseClient.class)
                    .sql("CREATE TABLE t (id BIGINT)")
                    .then()
                    .block(PATIENCE);

            rows.insert(1).block(PATIENCE);
            assertThat(said.list).isEmpty();

            operator.transactional(rows.insert(2))
                    .then(operator.transactional(rows.insert(3)))
                    .block(PATIENCE);
            assertThat(said.list)
                    .extracting(ILoggingEvent::getFormattedMessage)
                    .singleElement()
                    .asString()
                    .startsWith("@WithLock on ByMethod.insert(long): its caller has a transaction open");
            context.getBean(LockClient.class).close().block();
        } finally {
            log.detachAppender(said);
        }
    }

    private static void isReleasedAfterTheTransaction(Class<? extends Rows> rows, Class<?> order) {
        try (var context = context(rows, order)) {
            endsIn(context, "commit", context.getBean(Rows.class).insert(42), 1);
        }
        try (var context = context(rows, order)) {
            endsIn(context, "commit", context.getBean(Rows.class).insertMany(42).then(), 1);
        }
        try (var context = context(rows, order)) {
            endsIn(context, "rollback", context.getBean(Rows.class).fail(42).onErrorComplete(), 0);
        }
    }

    private static AnnotationConfigApplicationContext context(Class<?> rows, Class<?> order) {
        return Contexts.of(rows, order, Database.class);
    }

    private static void endsIn(AnnotationConfigApplicationContext context, String how, Mono<Void> work, long rows) {
        LockClient client = context.getBean(LockClient.class);
        DatabaseClient db = context.getBean(DatabaseClient.class);
        SlowTransactions transactions = context.getBean(SlowTransactions.class);
        db.sql("CREATE TABLE t (id BIGINT)").then().block(PATIENCE);

        CompletableFuture<Void> done = work.toFuture();
        assertThat(transactions.ending.asMono().block(PATIENCE)).isEqualTo(how);
        CompletableFuture<Long> next = client.withLock(
                        "row:42",
                        db.sql("SELECT COUNT(*) FROM t")
                                .map(row -> row.get(0, Long.class))
                                .one())
                .toFuture();
        assertThat(client.inspect("row:42").block().isHeld()).isTrue();

        transactions.end.emitEmpty(FAIL_FAST);
        assertThat(done).succeedsWithin(PATIENCE);
        assertThat(next).succeedsWithin(PATIENCE).isEqualTo(rows);
        client.close().block();
    }
}
