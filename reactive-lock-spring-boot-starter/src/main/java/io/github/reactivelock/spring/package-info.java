/**
 * Locks by annotation for Spring: {@link io.github.reactivelock.spring.WithLock} on methods that return {@code Mono} or
 * {@code Flux}, and on Kotlin's suspend functions. With Spring Boot nothing else is needed; without it, a bean of
 * {@link io.github.reactivelock.spring.WithLockBeanPostProcessor} switches it on.
 */
@NullMarked
package io.github.reactivelock.spring;

import org.jspecify.annotations.NullMarked;
