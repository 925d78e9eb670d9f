package io.github.reactivelock.spring;

import io.opentelemetry.api.GlobalOpenTelemetry;
import io.opentelemetry.api.baggage.Baggage;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.Scope;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BiFunction;
import java.util.stream.IntStream;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** A program for a JVM with the agent of OpenTelemetry. It says what annotated methods saw of their callers' traces. */
final class TracedMethods {

    static final List<String> NAMES = List.of("mono", "flux", "shared", "permits", "nested", "ifFree");

    private static final Duration LIMIT = Duration.ofMinutes(3);
    private static final Tracer TRACER = GlobalOpenTelemetry.getTracer("traced");

    private TracedMethods() {}

    /** Each looks when it is called, and its work later on another thread. */
    static class Methods {

        @WithLock(name = "mono")
        Mono<String> mono(Runnable look) {
            return work(look);
        }

        @WithLock(name = "flux")
        Flux<String> flux(Runnable look) {
            return work(look).concatWith(work(look));
        }

        @WithLock(name = "shared", shared = true)
        Mono<String> shared(Runnable look) {
            return work(look);
        }

        @WithLock(name = "permits", capacity = 2)
        Mono<String> permits(Runnable look) {
            return work(look);
        }

        @WithLock(name = "ifFree", ifFree = true)
        Mono<String> ifFree(Runnable look) {
            return work(look);
        }

        private static Mono<String> work(Runnable look) {
            look.run();
            return Mono.fromCallable(() -> {
                        look.run();
                        return "done";
                    })
                    .delayElement(Duration.ofMillis(1))
                    .doOnNext(value -> look.run());
        }
    }

    static class Outer {

        private final Methods methods;

        Outer(Methods methods) {
            this.methods = methods;
        }

        @WithLock(name = "outer")
        Mono<String> nested(Runnable look) {
            return Mono.defer(() -> methods.mono(look)).doOnNext(value -> look.run());
        }
    }

    public static void main(String[] args) {
        Map<String, Integer> seen = new TreeMap<>();
        try (AnnotationConfigApplicationContext context = Contexts.of(Methods.class, Outer.class)) {
            Methods methods = context.getBean(Methods.class);
            Outer outer = context.getBean(Outer.class);
            BiFunction<String, Runnable, Mono<?>> call = (name, look) -> switch (name) {
                case "flux" -> methods.flux(look).last();
                case "shared" -> methods.shared(look);
                case "permits" -> methods.permits(look);
                case "ifFree" -> methods.ifFree(look);
                case "nested" -> outer.nested(look);
                default -> methods.mono(look);
            };
            List<Mono<Void>> flows = IntStream.range(0, 240)
                    .mapToObj(i -> {
                        String name = NAMES.get(i % NAMES.size());
                        return flow(i, name, look -> call.apply(name, look), seen);
                    })
                    .toList();
            Flux.merge(Flux.fromIterable(flows), flows.size(), 1).then().block(LIMIT);
        }
        seen.forEach((what, times) -> System.out.println("saw " + what + " " + times));
        System.out.println("done");
        System.exit(0);
    }

    private interface Call {
        Mono<?> of(Runnable look);
    }

    /** Every fourth is in no trace, and may see none. */
    private static Mono<Void> flow(int number, String name, Call call, Map<String, Integer> seen) {
        return Mono.<Void>create(sink -> {
                    boolean isTraced = number / NAMES.size() % 4 != 1;
                    Span span =
                            isTraced ? TRACER.spanBuilder("flow").setNoParent().startSpan() : Span.getInvalid();
                    String user = isTraced ? "user " + number : "none";
                    Context own = isTraced
                            ? Context.root()
                                    .with(span)
                                    .with(Baggage.builder().put("user", user).build())
                            : Context.root();
                    Scope scope = own.makeCurrent();
                    try {
                        var unusedSink = sink.onDispose(call.of(() -> note(seen, name, span, user))
                                .doOnSuccess(value -> note(seen, name + " afterwards", span, user))
                                .doFinally(signal -> span.end())
                                .subscribe(value -> {}, sink::error, sink::success));
                    } finally {
                        scope.close();
                    }
                })
                .subscribeOn(Schedulers.boundedElastic());
    }

    private static void note(Map<String, Integer> seen, String where, Span span, String user) {
        String now = Baggage.current().getEntryValue("user");
        boolean isOwn = Span.current()
                        .getSpanContext()
                        .getTraceId()
                        .equals(span.getSpanContext().getTraceId())
                && user.equals(now == null ? "none" : now);
        synchronized (seen) {
            seen.merge((isOwn ? "its own in " : "ANOTHER'S in ") + where, 1, Integer::sum);
        }
    }
}
