/** A lock client for a Spring Boot application, made from the store that the application has. */
@NullMarked
package io.github.reactivelock.spring.boot;

import org.jspecify.annotations.NullMarked;
