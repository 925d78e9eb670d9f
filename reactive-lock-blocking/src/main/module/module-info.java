/** Locks for code that blocks. */
module io.github.reactivelock.blocking {
    requires transitive io.github.reactivelock.core;
    requires static io.netty.common;
    requires static io.netty.transport;
    requires static org.jspecify;

    exports io.github.reactivelock.blocking;
}
