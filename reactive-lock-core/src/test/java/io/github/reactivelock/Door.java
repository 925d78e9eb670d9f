package io.github.reactivelock;

import io.github.reactivelock.engine.Settings;
import io.github.reactivelock.engine.cohort.Engine;
import io.github.reactivelock.state.Share;

/** What a test in a room of the engine needs of the API's package, and no application does. */
public final class Door {

    private Door() {}

    /** One more client of an engine, with options of its own. */
    public static LockClient client(Engine engine, LockOptions options) {
        return new LockClient(engine, options);
    }

    /** As {@link LockClient#shared} and {@link LockClient#permits} make them. */
    public static LockOptions share(LockOptions options, Share share) {
        return options.withShare(share);
    }

    public static Engine engine(LockClientBuilder builder) {
        return builder.engine();
    }

    public static Settings settings(LockClientBuilder builder) {
        return builder.settings();
    }

    /** With a wall clock too. */
    public static LockClientBuilder timing(LockClientBuilder builder, TestTime time) {
        return builder.timing(time, time::nanos, time::wallMillis);
    }
}
