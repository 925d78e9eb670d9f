/** What is measured, and where and how long it is: races of sides, and what has a clock or a heap of its own. */
@NullMarked
package io.github.reactivelock.benchmarks.scenario;

import org.jspecify.annotations.NullMarked;
