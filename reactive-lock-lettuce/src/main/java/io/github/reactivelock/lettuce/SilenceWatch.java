package io.github.reactivelock.lettuce;

import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandHandler;
import io.lettuce.core.protocol.CommandType;
import io.lettuce.core.protocol.RedisCommand;
import io.lettuce.core.pubsub.PubSubCommandHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ends a connection on which nothing arrives though something is unanswered, so that Lettuce opens it anew: a NAT or a
 * balancer that has forgotten a connection never announces it, nor does a primary that was replaced while it was cut
 * off. One that is idle is asked with a {@code PING}. It stands in the pipeline of each connection of a client that we
 * made, and of those for channels of a client of the application that was given our customizer.
 *
 * <p>Silence is counted in beats of the connection's own event loop and not by a clock: a pause of this process, or of
 * the event loop, is one late beat, and what came meanwhile is read before the next one.
 */
final class SilenceWatch extends ChannelInboundHandlerAdapter {

    private static final Logger log = LoggerFactory.getLogger(SilenceWatch.class);
    private static final long BEAT_MILLIS = 500;
    /** Beats with something unanswered; two seconds at least, because the first may come at once. */
    private static final int LONGEST_SILENCE = 5;

    private final Predicate<CommandHandler> watched;

    /** Something has arrived since the last beat. */
    private boolean heard;
    /** The server has answered the driver's first question; how long that may take is up to the opening. */
    private boolean opened;

    private int silentBeats;

    private SilenceWatch(Predicate<CommandHandler> watched) {
        this.watched = watched;
    }

    static SilenceWatch ofAll() {
        return new SilenceWatch(connection -> true);
    }

    static SilenceWatch ofChannels() {
        return new SilenceWatch(PubSubCommandHandler.class::isInstance);
    }

    @Override
    public void channelActive(ChannelHandlerContext context) {
        beatLater(context);
        context.fireChannelActive();
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        heard = true;
        opened = true;
        context.fireChannelRead(message);
    }

    private void beatLater(ChannelHandlerContext context) {
        var unused = context.executor().schedule(() -> beat(context), BEAT_MILLIS, TimeUnit.MILLISECONDS);
    }

    private void beat(ChannelHandlerContext context) {
        if (!context.channel().isActive()) {
            return;
        }
        CommandHandler commands = context.pipeline().get(CommandHandler.class);
        if (commands == null || !watched.test(commands)) {
            return;
        }
        if (heard || !opened || takesItsTime(commands.getStack())) {
            heard = false;
            silentBeats = 0;
        } else if (commands.getStack().isEmpty()) {
            silentBeats = 0;
            ping(context);
        } else if (++silentBeats == LONGEST_SILENCE) {
            log.info("{} has been silent for too long; it is opened anew", context.channel());
            var unused = context.close();
            return;
        }
        beatLater(context);
    }

    /**
     * The server answers {@code WAIT} when replicas have answered, and until then nothing behind it; its caller has a
     * limit.
     */
    private static boolean takesItsTime(Queue<RedisCommand<?, ?, ?>> unanswered) {
        RedisCommand<?, ?, ?> oldest = unanswered.peek();
        return oldest != null && oldest.getType() == CommandType.WAIT;
    }

    private static void ping(ChannelHandlerContext context) {
        var unused = context.channel().writeAndFlush(new Command<>(CommandType.PING, new StatusOutput<>(Utf8.CODEC)));
    }
}
