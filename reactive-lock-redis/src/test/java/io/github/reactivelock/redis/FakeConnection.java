package io.github.reactivelock.redis;

import java.util.ArrayList;
import java.util.List;
import reactor.core.publisher.Mono;

/** Writes down what it is asked for, and answers scripts with a reply set beforehand. */
class FakeConnection implements RedisConnection {

    final List<String> asked = new ArrayList<>();
    volatile Mono<List<Object>> reply = Mono.just(List.of(0L));
    RedisListener listener;
    boolean knowsListeners;
    boolean wasReady;
    String user = "";
    Runnable beforeLeaving = () -> {};
    Runnable beforeAsking = () -> {};

    @Override
    public int database() {
        return 0;
    }

    @Override
    public String server() {
        return "fake:1";
    }

    @Override
    public String user() {
        return user;
    }

    @Override
    public Mono<List<Object>> eval(RedisScript script, List<String> keys, List<String> args) {
        return Mono.defer(() -> {
            asked.add(args.get(0));
            return reply;
        });
    }

    @Override
    public boolean wasReady() {
        return wasReady;
    }

    @Override
    public boolean knowsListeners() {
        return knowsListeners;
    }

    @Override
    public void listen(RedisListener listener) {
        this.listener = listener;
    }

    @Override
    public void subscribe(String channel) {
        Runnable once = beforeAsking;
        beforeAsking = () -> {};
        once.run();
        asked.add("+" + channel);
    }

    @Override
    public void reopen(String channel) {
        asked.add("!" + channel);
    }

    @Override
    public void unsubscribe(String channel) {
        Runnable once = beforeLeaving;
        beforeLeaving = () -> {};
        once.run();
        asked.add("-" + channel);
    }

    @Override
    public Mono<Void> close() {
        return Mono.empty();
    }
}
