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
     * @param units how many units it took; {@code Integer.MAX_VALUE} for the whole
     */
    record Acquired(String key, String owner, long fencingToken, int units) implements LockEvent {

        /**
         * A grant of the whole.
         *
         * @param key the lock's key
         * @param owner the name the claim gave itself
         * @param fencingToken the token of the grant
         */
        public Acquired(String key, String owner, long fencingToken) {
            this(key, owner, fencingToken, Share.WHOLE.units());
        }
    }

    /**
     * The owner gave the lock up, or lost it by force. A lease that runs out is not announced by every store; what
     * follows it is.
     *
     * @param key the lock's key
     * @param fencingToken the token of the grant that ended
     * @param units how many units it had; {@code Integer.MAX_VALUE} for the whole
     */
    record Released(String key, long fencingToken, int units) implements LockEvent {

        /**
         * The end of a hold of the whole.
         *
         * @param key the lock's key
         * @param fencingToken the token of the grant that ended
         */
        public Released(String key, long fencingToken) {
            this(key, fencingToken, Share.WHOLE.units());
        }
    }
}
