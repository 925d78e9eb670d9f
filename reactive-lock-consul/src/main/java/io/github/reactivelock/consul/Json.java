package io.github.reactivelock.consul;

import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.json.JsonFactory;

/** Questions to Consul and its answers, as they travel. Nothing is bound to types by reflection. */
final class Json {

    private static final JsonFactory FACTORY = new JsonFactory();

    private Json() {}

    /** One operation of a transaction that failed, and why. */
    record Failed(int operation, String what) {}

    /** What came of a transaction: the keys of its results in their order, or what failed. */
    record Outcome(List<Entry> results, List<Failed> failed) {}

    /** A node of the catalog that is no agent's; one that is there stays as it is. */
    static String node(String name) {
        return written(json -> {
            json.writeStartObject();
            json.writeStringProperty("Node", name);
            json.writeStringProperty("Address", "127.0.0.1"); // it needs one
            json.writeBooleanProperty("SkipNodeUpdate", true);
            json.writeEndObject();
        });
    }

    /** A session of the named node, or if that is empty, of the agent's. */
    static String session(Duration ttl, List<String> checks, String node) {
        return written(json -> {
            json.writeStartObject();
            json.writeStringProperty("Name", "reactive-lock");
            if (!node.isEmpty()) {
                json.writeStringProperty("Node", node);
            }
            json.writeStringProperty("TTL", ttl.toMillis() + "ms");
            json.writeStringProperty("Behavior", "delete");
            json.writeStringProperty("LockDelay", "0s"); // every claim has a key of its own
            json.writeArrayPropertyStart("Checks");
            checks.forEach(json::writeString);
            json.writeEndArray();
            json.writeEndObject();
        });
    }

    static String transaction(List<Operation> operations) {
        return written(json -> {
            json.writeStartArray();
            operations.forEach(operation -> operation.write(json));
            json.writeEndArray();
        });
    }

    private static String written(Consumer<JsonGenerator> content) {
        StringWriter text = new StringWriter(512);
        try (JsonGenerator json = FACTORY.createGenerator(ObjectWriteContext.empty(), text)) {
            content.accept(json);
        }
        return text.toString();
    }

    /** The id of a session just made. */
    static String sessionId(String body) {
        String[] id = {""};
        try (JsonParser json = parser(body)) {
            fields(json, name -> {
                if (name.equals("ID")) {
                    id[0] = json.getString();
                } else {
                    json.skipChildren();
                }
            });
        }
        if (id[0].isEmpty()) {
            throw new IllegalStateException("no session's id in " + body);
        }
        return id[0];
    }

    static List<Entry> entries(String body) {
        try (JsonParser json = parser(body)) {
            return elements(json, () -> entry(json));
        }
    }

    static List<String> names(String body) {
        try (JsonParser json = parser(body)) {
            return elements(json, json::getString);
        }
    }

    static Outcome outcome(String body) {
        List<Entry> results = new ArrayList<>();
        List<Failed> failed = new ArrayList<>();
        try (JsonParser json = parser(body)) {
            fields(json, name -> {
                switch (name) {
                    case "Results" ->
                        results.addAll(elements(json, () -> {
                            Entry[] found = new Entry[1];
                            insideFields(json, kind -> {
                                if (kind.equals("KV")) {
                                    found[0] = entry(json);
                                } else {
                                    json.skipChildren();
                                }
                            });
                            return found[0] == null ? new Entry("", 0, 0, 0, "", 0, "") : found[0];
                        }));
                    case "Errors" -> failed.addAll(elements(json, () -> failure(json)));
                    default -> json.skipChildren();
                }
            });
        }
        return new Outcome(List.copyOf(results), List.copyOf(failed));
    }

    private static Failed failure(JsonParser json) {
        int[] operation = {-1};
        String[] what = {""};
        insideFields(json, name -> {
            switch (name) {
                case "OpIndex" -> operation[0] = json.getIntValue();
                case "What" -> what[0] = json.getString();
                default -> json.skipChildren();
            }
        });
        return new Failed(operation[0], what[0]);
    }

    private static Entry entry(JsonParser json) {
        String[] texts = {"", "", ""};
        long[] numbers = new long[4];
        insideFields(json, name -> {
            switch (name) {
                case "Key" -> texts[0] = json.getString();
                case "Session" -> texts[1] = json.getString();
                case "CreateIndex" -> numbers[0] = json.getLongValue();
                case "ModifyIndex" -> numbers[1] = json.getLongValue();
                case "LockIndex" -> numbers[3] = json.getLongValue();
                case "Flags" -> numbers[2] = json.getBigIntegerValue().longValue(); // of 64 bits without a sign
                case "Value" -> {
                    if (json.currentToken() == JsonToken.VALUE_STRING) {
                        texts[2] = new String(json.getBinaryValue(), StandardCharsets.UTF_8);
                    }
                }
                default -> json.skipChildren();
            }
        });
        return new Entry(texts[0], numbers[0], numbers[1], numbers[3], texts[1], numbers[2], texts[2]);
    }

    private static JsonParser parser(String body) {
        JsonParser json = FACTORY.createParser(ObjectReadContext.empty(), body);
        json.nextToken();
        return json;
    }

    /** At the beginning of an array, or at something else, which counts as an empty one. */
    private static <T> List<T> elements(JsonParser json, Supplier<T> element) {
        List<T> all = new ArrayList<>();
        if (json.currentToken() != JsonToken.START_ARRAY) {
            json.skipChildren();
            return all;
        }
        while (json.nextToken() != JsonToken.END_ARRAY) {
            all.add(element.get());
        }
        return all;
    }

    private static void fields(JsonParser json, Consumer<String> field) {
        if (json.currentToken() == JsonToken.START_OBJECT) {
            insideFields(json, field);
        }
    }

    private static void insideFields(JsonParser json, Consumer<String> field) {
        while (json.nextToken() != JsonToken.END_OBJECT) {
            if (json.currentToken() != JsonToken.PROPERTY_NAME) {
                throw new IllegalStateException("Consul gave an answer of an unknown form");
            }
            String name = json.currentName();
            json.nextToken();
            field.accept(name);
        }
    }
}
