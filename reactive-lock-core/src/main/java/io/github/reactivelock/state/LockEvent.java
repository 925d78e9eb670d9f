package io.github.reactivelock.state;

/** A change of a lock's owner at the store. */
public sealed interface LockEvent {

    /**
     * The lock's key.
     *
     * @return the key as the user wrote it
     */
    String key();

    /**
     * How the lock stood when a watch began, or began again after an interruption.
     *
     * @param info the lock at that moment
     */
    record Snapshot(LockInfo info) implements LockEvent {
        @Override
        public String key() {
            return info.key();
        }
    }

    /**
     * A claim was granted the lock.
     *
     * @param key the lock's key
     * @param owner the name the claim gave itself
     * @param fencingToken the token of the grant
     */
    record Acquired(String key, String owner, long fencingToken) implements LockEvent {}

    /**
     * The owner gave the lock up, or lost it by force. A lease that runs out is not announced by every store; what
     * follows it is.
     *
     * @param key the lock's key
     * @param fencingToken the token of the grant that ended
     */
    record Released(String key, long fencingToken) implements LockEvent {}
}
