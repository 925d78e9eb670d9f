package io.github.reactivelock.redis;

/** Receives what a {@link RedisConnection} hears on its channels. */
public interface RedisListener {

    /**
     * A channel that the user may write to and that has no listeners, for {@link NeededCommands}.
     *
     * @return the channel's full name
     */
    String channel();

    /**
     * The server confirmed a channel: called once for every request, and again after every reconnection.
     *
     * @param channel the channel's full name
     */
    void subscribed(String channel);

    /**
     * The connection for channels ended: what is published is lost from now on, until each channel is confirmed again.
     * Does nothing unless overridden.
     */
    default void interrupted() {}

    /**
     * A message arrived, from any client that may publish there.
     *
     * @param channel the channel's full name
     * @param text the message, decoded as UTF-8
     */
    void message(String channel, String text);

    /**
     * A channel asked for cannot be had.
     *
     * @param channel the channel's full name
     * @param error the client library's error
     */
    void failed(String channel, Throwable error);

    /**
     * Commands go over another connection than before, and perhaps to another server: what was granted over the one
     * that is gone may be unknown there.
     */
    void replaced();

    /**
     * The connection for commands could not be opened again, and it will be tried again.
     *
     * @param error the client library's error
     */
    void refused(Throwable error);
}
