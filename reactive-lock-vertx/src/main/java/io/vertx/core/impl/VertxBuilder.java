package io.vertx.core.impl;

import org.jspecify.annotations.NullMarked;

/** Stands for the class of Vert.x 4 that its service providers get. It is only for compilation, and not in the jar. */
@NullMarked
public final class VertxBuilder {

    private VertxBuilder() {}
}
