/** Metrics and traces of locks. */
module io.github.reactivelock.micrometer {
    requires transitive io.github.reactivelock.core;
    requires transitive micrometer.core;
    requires transitive micrometer.observation;
    requires micrometer.commons;
    requires org.slf4j;
    requires static org.jspecify;

    exports io.github.reactivelock.micrometer;
}
