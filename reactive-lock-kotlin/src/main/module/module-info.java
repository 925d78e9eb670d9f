/** Locks for coroutines and flows. */
module io.github.reactivelock.kotlin {
    requires transitive io.github.reactivelock.core;
    requires transitive kotlin.stdlib;
    requires transitive kotlinx.coroutines.core;
    requires kotlinx.coroutines.reactor;

    exports io.github.reactivelock.kotlin;
}
