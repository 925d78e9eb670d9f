/** The protocol of the locks in Redis, for any client library. */
module io.github.reactivelock.redis {
    requires transitive io.github.reactivelock.core;
    requires transitive io.github.reactivelock.quorum;
    requires org.slf4j;
    requires static org.jspecify;
    requires static reactor.blockhound;

    exports io.github.reactivelock.redis;
}
