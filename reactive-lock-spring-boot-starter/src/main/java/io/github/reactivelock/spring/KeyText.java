package io.github.reactivelock.spring;

import java.lang.reflect.Method;
import java.lang.reflect.RecordComponent;
import java.util.Arrays;
import java.util.Collection;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.concurrent.Future;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.springframework.core.NativeDetector;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.util.ObjectUtils;
import org.springframework.util.ReflectionUtils;

/**
 * The text of a value in a key. Equal values have the same text in every process; what cannot promise that, and what
 * stands for no value, is refused.
 */
final class KeyText {

    /** What {@link Object#toString} makes of an array, or of an object of a class in a package. */
    private static final Pattern ADDRESS = Pattern.compile(
            "(?:\\[+(?:[BCDFIJSZ]|L[\\w.$/]+;)|(?<![\\w.$])(?:[\\p{L}_][\\w$]*\\.)+[\\p{L}_][\\w.$/]*)(?:\\{\\w*})?"
                    + "@[0-9a-f]{1,8}(?![\\w.@-])");

    /** Deeper than any value that is meant, and the end of one that holds itself. */
    private static final int DEPTH = 16;

    /** Why a value cannot be used, after the words "its key …". */
    static final class Unusable extends IllegalArgumentException {

        private static final long serialVersionUID = 1L;

        Unusable(String how) {
            super(how);
        }
    }

    private KeyText() {}

    /**
     * The text of a whole value.
     *
     * @throws Unusable if it has none that tells what is locked
     */
    static String of(@Nullable Object given) {
        if (given == null) {
            throw new Unusable("is null");
        }
        Object value = whole(given);
        if (value instanceof Enum<?> constant) {
            return constant.name();
        }
        if (value.getClass().isArray()) {
            throw nothingOf(value);
        }
        checkPart(value, 0);
        String text = value.toString();
        if (text.isBlank()) {
            throw new Unusable("is blank: '" + text + "'");
        }
        return text;
    }

    /** Refuses a value that is one part of a text: as with a whole one, but an array is the text of its elements. */
    static void check(@Nullable Object given) {
        if (given == null) {
            throw new Unusable("has a part that is null");
        }
        Object value = whole(given);
        if (value.getClass().isArray()) {
            Arrays.asList(ObjectUtils.toObjectArray(value)).forEach(KeyText::check);
        } else {
            checkPart(value, 0);
        }
    }

    /** What is in an {@code Optional}, which is written as the value itself is. */
    static Object whole(Object value) {
        if (value instanceof Optional<?> optional && optional.isPresent()) {
            return whole(optional.get());
        }
        if (value instanceof OptionalInt optional && optional.isPresent()) {
            return optional.getAsInt();
        }
        if (value instanceof OptionalLong optional && optional.isPresent()) {
            return optional.getAsLong();
        }
        return value instanceof OptionalDouble optional && optional.isPresent() ? optional.getAsDouble() : value;
    }

    private static void checkPart(@Nullable Object given, int depth) {
        if (given == null) {
            throw new Unusable("has a part that is null");
        }
        Object value = whole(given);
        if (isEmpty(value)) {
            throw new Unusable((depth == 0 ? "is " : "has a part that is ") + value);
        }
        if (value instanceof CharSequence || value instanceof Enum<?>) {
            return;
        }
        if (hasNoText(value.getClass()) || comesLater(value)) {
            throw nothingOf(value);
        }
        if (depth == DEPTH) {
            throw new Unusable("holds values " + DEPTH + " deep, or itself");
        }
        boolean isOrdered = true;
        if (value instanceof Collection<?> elements) {
            elements.forEach(element -> checkPart(element, depth + 1));
            isOrdered = !(value instanceof Set<?>)
                    || value instanceof SortedSet<?>
                    || value instanceof LinkedHashSet<?>
                    || value instanceof EnumSet<?>;
        } else if (value instanceof Map<?, ?> map) {
            map.forEach((key, element) -> {
                checkPart(key, depth + 1);
                checkPart(element, depth + 1);
            });
            isOrdered = value instanceof SortedMap<?, ?>
                    || value instanceof LinkedHashMap<?, ?>
                    || value instanceof EnumMap<?, ?>;
        } else if (value instanceof Record record) {
            checkComponents(record, depth);
        }
        if (!isOrdered) {
            throw new Unusable("has a part of " + value.getClass()
                    + ", whose order may be another one in each process; sort it, as by a TreeSet");
        }
        Matcher address = ADDRESS.matcher(value.toString());
        if (address.find()) {
            throw new Unusable(
                    "holds " + address.group() + ", which is the address of an object and says nothing of its value");
        }
    }

    private static boolean isEmpty(Object value) {
        return value.equals(Optional.empty())
                || value.equals(OptionalInt.empty())
                || value.equals(OptionalLong.empty())
                || value.equals(OptionalDouble.empty());
    }

    /** Where a record writes its components itself; one with a text of its own knows what it leaves out. */
    private static void checkComponents(Record record, int depth) {
        if (NativeDetector.inNativeImage()) { // which knows components of those records only that were registered
            return;
        }
        RecordComponent[] components = record.getClass().getRecordComponents();
        @Nullable
        Object[] values = Arrays.stream(components)
                .map(component -> value(component, record))
                .toArray();
        String written = IntStream.range(0, components.length)
                .mapToObj(i -> components[i].getName() + "=" + values[i])
                .collect(Collectors.joining(", ", record.getClass().getSimpleName() + "[", "]"));
        if (written.equals(record.toString())) {
            Arrays.asList(values).forEach(value -> {
                if (value == null || !value.getClass().isArray()) { // an array shows its address in the text
                    checkPart(value, depth + 1);
                }
            });
        }
    }

    private static @Nullable Object value(RecordComponent component, Record record) {
        Method accessor = component.getAccessor();
        // Where it may not be called, what it gives is not looked at: the text is then another one than the record's.
        return accessor.trySetAccessible() ? ReflectionUtils.invokeMethod(accessor, record) : accessor;
    }

    /** A text such as {@code Order@1b2c3d} would be another lock for every object. */
    private static boolean hasNoText(Class<?> type) {
        Method toString = ReflectionUtils.findMethod(type, "toString");
        return toString == null || toString.getDeclaringClass() == Object.class;
    }

    /** A publisher, a future, a deferred value of Kotlin: its text is not that of the value it will have. */
    private static boolean comesLater(Object value) {
        return value instanceof Future<?>
                || ReactiveAdapterRegistry.getSharedInstance().getAdapter(value.getClass()) != null;
    }

    private static Unusable nothingOf(Object value) {
        return new Unusable("is of " + value.getClass() + ", whose text says nothing of its value");
    }
}
