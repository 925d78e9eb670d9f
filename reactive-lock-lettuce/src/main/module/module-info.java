/** Locks in Redis over Lettuce. */
module io.github.reactivelock.lettuce {
    requires transitive io.github.reactivelock.redis;
    requires transitive lettuce.core;
    // What Lettuce, which names no modules, needs of those that do.
    requires io.netty.buffer;
    requires io.netty.common;
    requires io.netty.handler;
    requires io.netty.resolver.dns;
    requires io.netty.transport;
    requires java.management;
    requires org.slf4j;
    requires static org.jspecify;

    exports io.github.reactivelock.lettuce;
}
