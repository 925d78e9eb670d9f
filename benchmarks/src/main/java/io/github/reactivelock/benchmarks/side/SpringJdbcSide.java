package io.github.reactivelock.benchmarks.side;

import com.zaxxer.hikari.HikariDataSource;
import io.github.reactivelock.benchmarks.server.SqlServer;
import org.springframework.integration.jdbc.lock.DefaultLockRepository;
import org.springframework.integration.jdbc.lock.JdbcLockRegistry;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;

/** Spring Integration's lock in a table. It looks every 100 ms, its default. */
final class SpringJdbcSide extends BlockingSide {

    private final HikariDataSource connections = new HikariDataSource();
    private final DefaultLockRepository repository;
    private final JdbcLockRegistry registry;

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
    void locked(String key, Cycle cycle) {
        locked(registry.obtain(key), cycle);
    }

    @Override
    public void close() {
        super.close();
        repository.close();
        connections.close();
    }
}
