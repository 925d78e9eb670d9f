package io.github.reactivelock;

import java.lang.annotation.ElementType;
import java.lang.annotation.Target;

/** Tells Error Prone, which knows it by its simple name, that a test helper's result may be dropped. */
@Target(ElementType.METHOD)
public @interface CanIgnoreReturnValue {}
