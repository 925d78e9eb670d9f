package io.github.reactivelock.simulation;

import io.github.reactivelock.redis.RedisConnection;
import io.github.reactivelock.redis.RedisListener;
import io.github.reactivelock.redis.RedisScript;
import io.github.reactivelock.redis.SimulatedRedis;
import io.github.reactivelock.spi.FencingTokens;
import io.github.reactivelock.spi.QuorumNode;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.state.LockInfo;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/** A Redis server: the script and the backend are the library's own, the server is in memory. */
final class LuaSite implements Site {

    /** 2026, so that tokens are what they are elsewhere. */
    private static final long EPOCH_MICROS = 1_767_225_600_000_000L;

    private static final long TOKENS_SINCE_MICROS = 1_577_836_800_000_000L;
    private static final long REMEMBERED = 60_000_000;
    private static final String COUNTER = ":token";

    private record Subscription(RedisListener listener, BooleanSupplier hears) {}

    private final World world;
    private final int number;
    private final boolean hasReplica;
    private final Map<String, Subscription> channels = new HashMap<>();
    private RedisData data;
    private LuaRedis redis;
    private long aheadMicros;
    private long excusedBelow;
    private long since;
    private int generation;
    private long fullUntil;

    /**
     * @param number which no other site has
     * @param hasReplica which lacks the last writes when it takes over
     */
    LuaSite(World world, int number, boolean hasReplica) {
        this.hasReplica = hasReplica;
        this.number = number;
        this.world = world;
        this.data = begin();
        this.redis = new LuaRedis(data);
    }

    private RedisData begin() {
        String runId = String.format("%038x%02x", world.now() + 1, number);
        return new RedisData(runId, this::micros, REMEMBERED, this::publish, this::listeners);
    }

    private long micros() {
        return EPOCH_MICROS + world.now() / 1_000 + aheadMicros;
    }

    private void publish(String channel, String message) {
        Subscription to = channels.get(channel);
        if (to != null) {
            to.listener().message(channel, message);
        }
    }

    private long listeners(String channel) {
        Subscription to = channels.get(channel);
        return to != null && to.hears().getAsBoolean() ? 1 : 0;
    }

    @Override
    public QuorumNode connect(String client, Scheduler timer, BooleanSupplier hears, Consumer<Signal> pushes) {
        QuorumNode backend = new SimulatedRedis(new Connection(hears), timer);
        backend.signals()
                .filter(signal -> !(signal instanceof Signal.Reconnected))
                .subscribe(pushes, failure -> {});
        return backend;
    }

    @Override
    public void lose(Duration late) {
        generation++;
        since = world.now();
        excusedBelow = tokenOfNow();
        if (!hasReplica || world.chance(0.5)) {
            channels.clear();
            redis.close();
            data = begin();
            redis = new LuaRedis(data);
        } else {
            data.takeBack(micros() - late.toNanos() / 1_000);
            channels.clear();
        }
    }

    @Override
    public boolean fill(long until) {
        fullUntil = Math.max(fullUntil, until);
        return true;
    }

    @Override
    public void jump(Duration ahead) {
        aheadMicros += ahead.toNanos() / 1_000;
        excusedBelow = tokenOfNow();
    }

    private long tokenOfNow() {
        return FencingTokens.of(micros() - TOKENS_SINCE_MICROS + 1);
    }

    @Override
    public long excusedBelow() {
        return excusedBelow;
    }

    @Override
    public int generation() {
        return generation;
    }

    @Override
    public long since() {
        return since;
    }

    @Override
    public LockInfo inspect(String key) {
        return Objects.requireNonNull(new SimulatedRedis(new Connection(() -> false), Schedulers.immediate())
                .inspect(key)
                .block());
    }

    @Override
    public int size() {
        return (int) data.size(COUNTER);
    }

    @Override
    public void close() {
        redis.close();
    }

    private final class Connection implements RedisConnection {
        private final BooleanSupplier hears;
        private @Nullable RedisListener listener;

        Connection(BooleanSupplier hears) {
            this.hears = hears;
        }

        @Override
        public int database() {
            return 0;
        }

        @Override
        public String server() {
            return "simulation";
        }

        @Override
        public boolean knowsListeners() {
            return true;
        }

        @Override
        public Mono<List<Object>> eval(RedisScript script, List<String> keys, List<String> args) {
            return Mono.fromCallable(() -> {
                data.beginScript(world.now() < fullUntil);
                return redis.eval(keys, args);
            });
        }

        @Override
        public void listen(RedisListener heard) {
            listener = heard;
        }

        @Override
        public void subscribe(String channel) {
            RedisListener heard = Objects.requireNonNull(listener);
            channels.put(channel, new Subscription(heard, hears));
            heard.subscribed(channel);
        }

        @Override
        public void unsubscribe(String channel) {
            channels.remove(channel);
        }

        @Override
        public Mono<Void> close() {
            return Mono.empty();
        }
    }
}
