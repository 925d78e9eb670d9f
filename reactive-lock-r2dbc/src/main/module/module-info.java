/** Locks in a database over R2DBC. */
module io.github.reactivelock.r2dbc {
    requires transitive io.github.reactivelock.core;
    requires transitive r2dbc.spi;
    requires r2dbc.pool;
    requires org.slf4j;
    requires static org.jspecify;
    requires static r2dbc.postgresql;

    exports io.github.reactivelock.r2dbc;
}
