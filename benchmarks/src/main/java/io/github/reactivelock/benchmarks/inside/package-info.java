/**
 * The cost inside the process, measured by JMH on the in-process store, which sends nothing. Classes and methods are
 * public because JMH requires it.
 */
@NullMarked
package io.github.reactivelock.benchmarks.inside;

import org.jspecify.annotations.NullMarked;
