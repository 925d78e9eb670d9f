/**
 * What happens inside the process, measured by JMH on the in-process store, where nothing is sent anywhere. Classes and
 * methods are public because JMH wants them so.
 */
@NullMarked
package io.github.reactivelock.benchmarks.inside;

import org.jspecify.annotations.NullMarked;
