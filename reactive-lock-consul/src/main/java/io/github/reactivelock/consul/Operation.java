package io.github.reactivelock.consul;

import java.nio.charset.StandardCharsets;
import java.util.Base64;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;

/**
 * One step of a transaction, of which all are carried out or none.
 *
 * @param verb as Consul calls it
 * @param key the whole name
 * @param index what {@code check-index} compares; zero if the verb takes none
 * @param session who acquires; empty if the verb takes none
 * @param flags a number that is kept with the key
 * @param value what to write, in Base64; null if the verb takes none
 */
record Operation(
        String verb,
        String key,
        long index,
        String session,
        long flags,
        @Nullable String value) {

    /** How many one transaction takes. */
    static final int MOST = 64;

    static Operation lock(String key, String session, long flags, String text) {
        return new Operation("lock", key, 0, session, flags, base64(text.getBytes(StandardCharsets.UTF_8)));
    }

    static Operation set(String key, byte[] value) {
        return new Operation("set", key, 0, "", 0, base64(value));
    }

    static Operation checkAndSet(String key, long index, byte[] value) {
        return new Operation("cas", key, index, "", 0, base64(value));
    }

    static Operation delete(String key) {
        return new Operation("delete", key, 0, "", 0, null);
    }

    static Operation checkIndex(String key, long index) {
        return new Operation("check-index", key, index, "", 0, null);
    }

    static Operation checkAbsent(String key) {
        return new Operation("check-not-exists", key, 0, "", 0, null);
    }

    static Operation unlock(String key, String session) {
        return new Operation("unlock", key, 0, session, 0, null);
    }

    static Operation tree(String key) {
        return new Operation("get-tree", key, 0, "", 0, null);
    }

    private static String base64(byte[] value) {
        return Base64.getEncoder().encodeToString(value);
    }

    void write(JsonGenerator json) {
        json.writeStartObject();
        json.writeObjectPropertyStart("KV");
        json.writeStringProperty("Verb", verb);
        json.writeStringProperty("Key", key);
        if (index != 0) {
            json.writeNumberProperty("Index", index);
        }
        if (!session.isEmpty()) {
            json.writeStringProperty("Session", session);
        }
        if (flags != 0) {
            json.writeNumberProperty("Flags", flags);
        }
        if (value != null) {
            json.writeStringProperty("Value", value);
        }
        json.writeEndObject();
        json.writeEndObject();
    }
}
