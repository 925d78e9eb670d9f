package io.github.reactivelock.spi.queue;

import io.github.reactivelock.state.Share;

/**
 * An entry that all see whole, as in Consul.
 *
 * @param claimId whose it is
 * @param share what it takes
 * @param number when it was made
 */
record TestEntry(String claimId, Share share, long number) implements Place, ClaimEntry<TestEntry> {

    @Override
    public String name() {
        return claimId + ":" + number;
    }

    @Override
    public boolean isAt(TestEntry place) {
        return equals(place);
    }

    @Override
    public long token() {
        return number << 12;
    }
}
