/**
 * What a store says about a lock: its present state, its events, why it was lost, and that a fencing token is stale.
 * Users import these; stores make them. This package imports nothing of the project.
 */
@NullMarked
package io.github.reactivelock.state;

import org.jspecify.annotations.NullMarked;
