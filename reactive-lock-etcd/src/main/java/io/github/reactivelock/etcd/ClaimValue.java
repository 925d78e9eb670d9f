package io.github.reactivelock.etcd;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.KeyValue;
import java.nio.charset.StandardCharsets;

/**
 * What a claim's key holds: {@code SESSION CLAIM OWNER}.
 *
 * @param session the client that made the claim
 * @param claimId the claim
 * @param owner the name of its owner
 */
record ClaimValue(String session, String claimId, String owner) {

    static ClaimValue of(KeyValue key) {
        String[] words = key.getValue().toString(StandardCharsets.UTF_8).split(" ", 3);
        return new ClaimValue(words[0], words.length < 2 ? "" : words[1], words.length < 3 ? "" : words[2]);
    }

    ByteSequence bytes() {
        return KeyLayout.bytes(session + " " + claimId + " " + owner);
    }
}
