/** Locks in Redis over the Vert.x client. */
module io.github.reactivelock.vertx {
    requires transitive io.github.reactivelock.redis;
    requires transitive io.vertx.core;
    requires transitive io.vertx.redis.client;
    requires org.slf4j;
    requires static io.vertx.healthcheck;
    requires static org.jspecify;
    requires static reactor.blockhound;

    exports io.github.reactivelock.vertx;

    provides io.vertx.core.spi.VertxServiceProvider with
            io.github.reactivelock.vertx.HeldContext;
}
