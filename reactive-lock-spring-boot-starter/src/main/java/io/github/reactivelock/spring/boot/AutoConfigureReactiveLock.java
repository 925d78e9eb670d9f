package io.github.reactivelock.spring.boot;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;

/**
 * Gives a test the starter's {@link io.github.reactivelock.LockClient} and
 * {@link io.github.reactivelock.spring.WithLock}, with locks in the memory of the test's process: for a
 * {@code @SpringBootTest} of some classes, and for one of the whole application that shall need no store. The tests of
 * slices, such as {@code @WebFluxTest}, have it without the annotation.
 *
 * <p>A {@link io.github.reactivelock.spi.LockBackend} or a client of the test's own comes before it.
 */
@Documented
@Inherited
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
@ImportAutoConfiguration
public @interface AutoConfigureReactiveLock {}
