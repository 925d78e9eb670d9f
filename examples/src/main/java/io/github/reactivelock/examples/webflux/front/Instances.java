package io.github.reactivelock.examples.webflux.front;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.http.HttpStatus;
import org.springframework.stereotype.Component;
import org.springframework.web.server.ResponseStatusException;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** The shop's processes. */
@Component
final class Instances {

    static final List<String> NAMES = List.of("shop-1", "shop-2");

    private static final Logger log = LoggerFactory.getLogger(Instances.class);

    private final Map<String, Instance> all = new TreeMap<>();

    Instances(Board board, @Value("${spring.data.redis.url}") String redis, @Value("${shop.packing}") String packing) {
        for (String name : NAMES) {
            all.put(
                    name,
                    new Instance(
                            name,
                            board,
                            "--spring.data.redis.url=" + redis,
                            "--reactive-lock.name=" + name,
                            "--shop.packing=" + packing));
        }
    }

    /** Starts those that do not run. */
    void start() {
        NAMES.forEach(this::start);
    }

    /** Starts it if it does not run; it goes on by itself. */
    void start(String name) {
        get(name).run().subscribe(ended -> {}, failed -> log.warn("{} is not followed", name, failed));
    }

    Instance get(String name) {
        Instance instance = all.get(name);
        if (instance == null) {
            throw new ResponseStatusException(HttpStatus.NOT_FOUND, "there are the instances " + NAMES);
        }
        return instance;
    }

    Mono<Void> close() {
        return Flux.fromIterable(all.values()).flatMap(Instance::close).then();
    }
}
