/** What is shown: tables and figures, the document with plots, and the targets. */
@NullMarked
package io.github.reactivelock.benchmarks.report;

import org.jspecify.annotations.NullMarked;
