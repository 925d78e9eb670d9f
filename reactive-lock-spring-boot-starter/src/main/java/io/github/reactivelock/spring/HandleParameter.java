package io.github.reactivelock.spring;

import io.github.reactivelock.LockHandle;
import java.lang.reflect.Method;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.springframework.core.ResolvableType;

/**
 * The parameter of a locked method that gets the hold.
 *
 * @param index which one, negative for none
 * @param isOne whether it is a handle, and not a list of them
 */
record HandleParameter(int index, boolean isOne) {

    private static final HandleParameter NONE = new HandleParameter(-1, false);

    static HandleParameter of(Method method) {
        List<HandleParameter> found = IntStream.range(0, method.getParameterCount())
                .mapToObj(i -> of(i, ResolvableType.forMethodParameter(method, i)))
                .filter(parameter -> parameter.index() >= 0)
                .toList();
        if (found.size() > 1) {
            throw new IllegalArgumentException(
                    "it has " + found.size() + " parameters for its hold; leave one of them");
        }
        return found.isEmpty() ? NONE : found.get(0);
    }

    private static HandleParameter of(int index, ResolvableType type) {
        if (type.resolve() == LockHandle.class) {
            return new HandleParameter(index, true);
        }
        boolean isList = type.resolve() == List.class && type.getGeneric(0).resolve() == LockHandle.class;
        return isList ? new HandleParameter(index, false) : NONE;
    }

    void fill(@Nullable Object[] arguments, List<LockHandle> held) {
        if (index >= 0) {
            arguments[index] = isOne ? held.get(0) : held;
        }
    }
}
