/**
 * Texts that a user gives (the key of a lock, the name of an owner) and texts that a user gets (what a broken class
 * path is called, and this process). Not exported: public only because the root package and the engine both use it. It
 * sees nothing of the project, keeps no state and runs on the thread of its caller.
 */
@NullMarked
package io.github.reactivelock.text;

import org.jspecify.annotations.NullMarked;
