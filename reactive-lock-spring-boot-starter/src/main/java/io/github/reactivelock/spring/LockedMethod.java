package io.github.reactivelock.spring;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.interceptor.ExposeInvocationInterceptor;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.util.context.ContextView;

/**
 * A method under a lock. What a call gets is cold: each subscription has a key, a hold and an invocation of its own.
 *
 * @param name as errors name it
 * @param kind what it returns
 * @param client with the options of the method
 * @param ifFree whether it is left out when the lock is taken
 * @param key what its lock is called
 * @param handle where it wants its hold
 * @param caller sees a transaction around the lock
 */
record LockedMethod(
        String name,
        Kind kind,
        LockClient client,
        boolean ifFree,
        LockKey key,
        HandleParameter handle,
        CallersTransaction caller) {

    private static final String JOIN_POINT = "org.aspectj.lang.JoinPoint";

    /** What a method returns. */
    enum Kind {
        MONO,
        FLUX,
        SUSPEND
    }

    Object call(ProxyMethodInvocation invocation) {
        // A copy, because an invocation counts which advice comes next, and the subscription may come at any time.
        ProxyMethodInvocation call = (ProxyMethodInvocation) invocation.invocableClone();
        return switch (kind) {
            case MONO -> Mono.deferContextual(context -> mono(call, context));
            case FLUX -> Flux.deferContextual(context -> flux(call, context));
            case SUSPEND -> Mono.deferContextual(context -> suspended(call, context));
        };
    }

    private Mono<Object> mono(ProxyMethodInvocation call, ContextView context) {
        caller.look(context);
        List<String> keys = keys(call);
        Function<List<LockHandle>, Mono<Object>> work = held -> Mono.from(proceed(call, held, null));
        return ifFree ? client.tryWithLock(keys, work, Mono.empty()) : client.withLock(keys, work);
    }

    private Flux<Object> flux(ProxyMethodInvocation call, ContextView context) {
        caller.look(context);
        List<String> keys = keys(call);
        Function<List<LockHandle>, Publisher<Object>> work = held -> proceed(call, held, null);
        return ifFree ? client.tryWithLockMany(keys, work, Flux.empty()) : client.withLockMany(keys, work);
    }

    private Mono<Object> suspended(ProxyMethodInvocation call, ContextView context) {
        caller.look(context);
        Object caller = Objects.requireNonNull(call.getArguments()[call.getArguments().length - 1], "continuation");
        SuspendedCall suspended =
                new SuspendedCall(client, () -> keys(call), (held, continuation) -> proceed(call, held, continuation));
        return ifFree ? suspended.ifFree(caller) : suspended.waiting(caller);
    }

    /** The keys of a call's locks; several only where the method can do with them. */
    private List<String> keys(ProxyMethodInvocation call) {
        List<String> keys = key.of(call);
        if (keys.size() > 1 && handle.isOne()) {
            throw new IllegalArgumentException("@WithLock on " + name + ": the key " + key + " gives " + keys.size()
                    + " keys, and the method takes one LockHandle; let it take a List<LockHandle>");
        }
        return keys;
    }

    /** Calls the method, once more at each call of this. Advice of AspectJ finds its invocation on its thread. */
    private Publisher<Object> proceed(
            ProxyMethodInvocation call, List<LockHandle> held, @Nullable Object continuation) {
        @Nullable Object[] arguments = call.getArguments().clone();
        handle.fill(arguments, held);
        if (continuation != null) {
            arguments[arguments.length - 1] = continuation;
        }
        var own = (ProxyMethodInvocation) call.invocableClone(arguments);
        // Copies share the attributes, where AspectJ keeps the join point of the subscription before, with its hold.
        own.setUserAttribute(JOIN_POINT, null);
        try {
            @SuppressWarnings("unchecked")
            Publisher<Object> work = (Publisher<Object>) ExposeInvocationInterceptor.INSTANCE.invoke(own);
            return Objects.requireNonNull(work, () -> name + " returned null; let it return an empty publisher");
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            return Mono.error(e);
        }
    }
}
