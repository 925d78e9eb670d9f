/** Locks for reactive Java: the API, its engine, what stores implement, and the stores that need no library. */
module io.github.reactivelock.core {
    requires transitive org.reactivestreams;
    requires transitive reactor.core;
    requires org.slf4j;
    requires static org.crac;
    requires static org.jspecify;
    requires static reactor.blockhound;

    exports io.github.reactivelock;
    exports io.github.reactivelock.election;
    exports io.github.reactivelock.memory;
    exports io.github.reactivelock.spi;
    exports io.github.reactivelock.spi.queue;
    exports io.github.reactivelock.spi.support;
    exports io.github.reactivelock.state;
}
