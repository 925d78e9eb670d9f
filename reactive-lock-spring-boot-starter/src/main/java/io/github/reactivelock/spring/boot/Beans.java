package io.github.reactivelock.spring.boot;

import java.util.Arrays;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.NoUniqueBeanDefinitionException;
import org.springframework.core.ResolvableType;
import org.springframework.util.ClassUtils;

/** The beans of one type, those of parent contexts among them, of which the locks use one. */
final class Beans<T> {

    private final ListableBeanFactory factory;
    private final Class<T> type;

    Beans(ListableBeanFactory factory, Class<T> type) {
        this.factory = factory;
        this.type = type;
    }

    /** {@return whether there is any} */
    boolean exist() {
        return names().length > 0;
    }

    /** {@return the only one, or the primary one} */
    T only() {
        try {
            return factory.getBean(type);
        } catch (NoUniqueBeanDefinitionException several) {
            throw new LockConfigurationException(
                    "the locks could use any of the beans " + this + ", and none of them is @Primary",
                    "Mark one of them as @Primary, or set reactive-lock.url, or declare a bean of the type LockBackend.",
                    several);
        }
    }

    /** The name of {@link #only}. */
    String onlyName() {
        T only = only();
        return Arrays.stream(names())
                .filter(name -> factory.getBean(name) == only)
                .findFirst()
                .orElseGet(this::toString);
    }

    private String[] names() {
        return BeanFactoryUtils.beanNamesForTypeIncludingAncestors(factory, ResolvableType.forClass(type), true, false);
    }

    /** For people. */
    @Override
    public String toString() {
        String[] names = names();
        return ClassUtils.getShortName(type) + " " + (names.length == 1 ? names[0] : Arrays.toString(names));
    }
}
