/**
 * Distributed locks for reactive Java: {@link io.github.reactivelock.LockClient} is the one entry point.
 *
 * <p>The words used here and everywhere in the project: a <em>key</em> names a lock; a <em>claim</em> is one request
 * for it, known to the store by a random id; the <em>owner</em> is the claim that a store shows as having the lock; an
 * <em>owner's name</em> is what people see of it, and decides nothing; a <em>flow's name</em>
 * ({@link io.github.reactivelock.LockContext#owner}) decides which acquisitions are one flow's; a <em>grant</em> makes
 * a claim the owner; a <em>hold</em> is one flow's turn under a grant; a <em>lease</em> is how long the store keeps a
 * grant that is not renewed; a <em>fencing token</em> is a number that rises with every hold of a key; a
 * <em>signal</em> is what a store pushes; a <em>pass</em> is a hand-over inside one process.
 *
 * <p>Here is what a user imports, and nothing else. The engine has packages of its own, which the module does not
 * export.
 */
@NullMarked
package io.github.reactivelock;

import org.jspecify.annotations.NullMarked;
