package io.github.reactivelock.testservers;

import java.lang.annotation.ElementType;
import java.lang.annotation.Target;

/** Marks a method whose answer may be ignored; the compile-time checks know it by its name. */
@Target(ElementType.METHOD)
@interface CanIgnoreReturnValue {}
