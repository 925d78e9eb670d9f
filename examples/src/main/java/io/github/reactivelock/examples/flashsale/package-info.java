/**
 * A flash sale on several real processes. The door ({@code Door}, in the process that the user starts) hands buyers to
 * instances of the application ({@code Instance}, a JVM each), which read, check and write one stock in Redis. At the
 * end the door counts the ledger. Buyers and answers travel through lists in Redis.
 */
@NullMarked
package io.github.reactivelock.examples.flashsale;

import org.jspecify.annotations.NullMarked;
