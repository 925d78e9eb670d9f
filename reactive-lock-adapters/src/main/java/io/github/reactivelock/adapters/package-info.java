/** What the adapters to the interfaces of other libraries share; nothing for applications. */
@NullMarked
package io.github.reactivelock.adapters;

import org.jspecify.annotations.NullMarked;
