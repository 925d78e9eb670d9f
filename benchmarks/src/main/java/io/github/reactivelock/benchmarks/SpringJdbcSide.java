package io.github.reactivelock.benchmarks;

import com.zaxxer.hikari.HikariDataSource;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.Lock;
import org.springframework.integration.jdbc.lock.DefaultLockRepository;
import org.springframework.integration.jdbc.lock.JdbcLockRegistry;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;

/** Spring Integration's lock in a table, which blocks: every flow has a thread. It looks every 100 ms, its default. */
final class SpringJdbcSide implements Side {

    private final HikariDataSource connections = new HikariDataSource();
    private final DefaultLockRepository repository;
    private final JdbcLockRegistry registry;
    private final ExecutorService threads = Executors.newCachedThreadPool();

    SpringJdbcSide(String uri) {
        connections.setJdbcUrl(SqlServer.jdbc(uri));
        this.repository = new DefaultLockRepository(connections);
        repository.setTransactionManager(new DataSourceTransactionManager(connections));
        repository.afterPropertiesSet();
        repository.afterSingletonsInstantiated();
        repository.start();
        this.registry = new JdbcLockRegistry(repository);
    }

    @Override
    public void cycle(String key, long flow, Cycle cycle) {
        threads.execute(() -> {
            Throwable failure = null;
            try {
                Lock lock = registry.obtain(key);
                lock.lock();
                try {
                    cycle.entered();
                } finally {
                    lock.unlock();
                }
            } catch (RuntimeException e) {
                failure = e;
            }
            cycle.ended(failure);
        });
    }

    @Override
    public void close() {
        threads.shutdownNow();
        repository.close();
        connections.close();
    }
}
