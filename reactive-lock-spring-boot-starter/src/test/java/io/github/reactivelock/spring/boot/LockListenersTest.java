package io.github.reactivelock.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.LockListener;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Several listeners as one. */
class LockListenersTest {

    private static Stream<Throwable> failures() {
        return Stream.of(
                new IllegalStateException("of the application"), new NoClassDefFoundError("of the application"));
    }

    private static LockListener listener(InvocationHandler events) {
        return (LockListener) Proxy.newProxyInstance(
                LockListener.class.getClassLoader(), new Class<?>[] {LockListener.class}, events);
    }

    @ParameterizedTest
    @MethodSource("failures")
    void everyEventReachesEveryListenerAlsoThoseBehindOneThatThrows(Throwable failure) throws Exception {
        List<String> heard = new ArrayList<>();
        LockListeners all = new LockListeners(List.of(
                listener((proxy, event, arguments) -> heard.add("first " + event.getName())),
                listener((proxy, event, arguments) -> {
                    if (event.getDeclaringClass() == Object.class) {
                        return "one that throws";
                    }
                    throw failure;
                }),
                listener((proxy, event, arguments) -> heard.add("last " + event.getName()))));

        List<Method> events = Stream.of(LockListener.class.getMethods()).toList();
        for (Method event : events) {
            Object[] nothing = Stream.of(event.getParameterTypes())
                    .map(type -> type == long.class ? (Object) 1L : null)
                    .toArray();
            Object unused = event.invoke(all, nothing);
        }

        List<String> expected = events.stream()
                .flatMap(event -> Stream.of("first " + event.getName(), "last " + event.getName()))
                .toList();
        assertThat(events).hasSizeGreaterThan(10);
        assertThat(heard).isEqualTo(expected);
    }
}
