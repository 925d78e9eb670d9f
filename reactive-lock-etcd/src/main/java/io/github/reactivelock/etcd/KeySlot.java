package io.github.reactivelock.etcd;

/**
 * Where a claim's key is put among those of its lock; {@code SESSION.SERIES.NUMBER} in a name.
 *
 * @param key the lock's key
 * @param session the client
 * @param series distinguishes names in doubt from later ones
 * @param number counts the claims that the client has on the lock at the same time
 */
record KeySlot(String key, String session, int series, int number) {

    @Override
    public String toString() {
        return session + "." + series + "." + number;
    }
}
