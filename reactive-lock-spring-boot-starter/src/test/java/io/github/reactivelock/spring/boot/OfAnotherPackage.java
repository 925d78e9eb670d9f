package io.github.reactivelock.spring.boot;

import io.github.reactivelock.LockHandle;
import io.github.reactivelock.spring.WithLock;
import java.util.List;
import reactor.core.publisher.Mono;

/** Superclasses with methods that only this package sees. */
public class OfAnotherPackage {

    private final List<String> state = List.of("set by the constructor");

    @WithLock(name = "order")
    Mono<String> work(LockHandle held) {
        return Mono.just(held.key() + state);
    }

    /** As the package calls it. */
    public static Mono<String> call(OfAnotherPackage bean) {
        return bean.work(null);
    }

    /** Lets all see the method. */
    public static class Opened extends OfAnotherPackage {
        @Override
        public Mono<String> work(LockHandle held) {
            return super.work(held);
        }
    }

    static class Hidden {
        @WithLock(name = "order")
        public Mono<String> work(LockHandle held) {
            return Mono.just(held.key());
        }
    }

    /** Public, with a method of a class that is not; the compiler gives it a bridge. */
    public static class Shown extends Hidden {}
}
