/** A lock in a majority of stores. */
module io.github.reactivelock.quorum {
    requires transitive io.github.reactivelock.core;
    requires static org.jspecify;

    exports io.github.reactivelock.quorum;
}
