package io.github.reactivelock.redis;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class KeyLayoutTest {

    private static final String ODD = "{}%aA0 :/.\n\0\t\u007f\u0085é日";

    private final KeyLayout names = new KeyLayout("reactivelock", 0);

    @Test
    void anOrdinaryKeyStaysReadable() {
        assertThat(names.owner("order:42")).isEqualTo("{reactivelock:order:42}");
        assertThat(names.grants("me")).isEqualTo("reactivelock:0:grants:me");
        assertThat(names.events("order:42")).isEqualTo("reactivelock:0:events:{reactivelock:order:42}");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "}", "{", "{}", "}{", "a}b", "%7D", "%", "%%", "a b", "\n", "\0", "\u0085", "😀", "é", "e\u0301", "..",
                "/", ":"
            })
    void anOddKeyStaysInsideTheBracesAndComesBack(String key) {
        String owner = names.owner(key);

        assertThat(owner.indexOf('}')).isEqualTo(owner.length() - 1);
        assertThat(owner.lastIndexOf('{')).isZero();
        assertThat(names.key(owner)).isEqualTo(key);
    }

    @Test
    void noTwoKeysMeet() {
        Random random = new Random(42);
        Map<String, String> keyByOwner = new HashMap<>();
        for (int i = 0; i < 50_000; i++) {
            StringBuilder key = new StringBuilder();
            for (int length = 1 + random.nextInt(4); length > 0; length--) {
                key.append(ODD.charAt(random.nextInt(ODD.length())));
            }
            String before = keyByOwner.put(names.owner(key.toString()), key.toString());
            assertThat(before).isIn(null, key.toString());
        }
    }

    @Test
    void allKeysOfALockAreDifferentAndShareTheHashTag() {
        List<String> all = names.all("}x{");
        Set<String> tags = new HashSet<>();
        all.forEach(name -> tags.add(name.substring(name.indexOf('{') + 1, name.indexOf('}'))));

        assertThat(all).hasSize(4).doesNotHaveDuplicates();
        assertThat(tags).containsExactly("reactivelock:%7Dx%7B");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "order:42",
                "{other:a}",
                "{reactivelock:a",
                "{reactivelock:%7d}",
                "{reactivelock:%41}",
                "{reactivelock:%}",
                "{reactivelock:%zz}",
                "{reactivelock:a}b}",
                "{reactivelock:\n}"
            })
    void aNameWeNeverMadeIsNoKey(String owner) {
        assertThat(names.key(owner)).isNull();
    }

    @ParameterizedTest
    @ValueSource(strings = {"orders:", "orders:locks", "a:shard", ":"})
    void allNamesOfAPrefixWithAColonBeginWithIt(String prefix) {
        KeyLayout plain = new KeyLayout(prefix, 0);
        KeyLayout sharded = KeyLayout.ofShards(prefix);

        assertThat(plain.owner("42")).isEqualTo(prefix + "{42}");
        assertThat(plain.all("42")).allMatch(name -> name.startsWith(prefix));
        assertThat(plain.ownersOf("4")).isEqualTo(prefix + "{4*}");
        assertThat(List.of(plain.grants("me"), plain.events("42"), sharded.grants("me"), sharded.grants("42", "me")))
                .allMatch(name -> name.startsWith(prefix));
        assertThat(KeyLayout.fences(prefix)).startsWith(prefix);
        assertThat(prefix).startsWith(KeyLayout.permitted(prefix));
        assertThat(plain.key(plain.owner("}a{:%"))).isEqualTo("}a{:%");
        assertThat(HashSlot.of(plain.owner("42")))
                .isEqualTo(HashSlot.of(plain.all("42").get(3)));
    }

    @Test
    void noTwoPrefixesMeet() {
        List<String> prefixes = List.of(
                "a",
                "a:",
                "a::",
                "a:a",
                "a:a:",
                "aa",
                "a:0",
                "a:0:",
                "a:shard",
                "a:shard:",
                "a:0:grants",
                "a:0:events:a",
                "a.a",
                ":a",
                ":",
                "a:fence",
                "a:fence:");
        Map<String, String> made = new HashMap<>();
        for (String prefix : prefixes) {
            for (KeyLayout layout :
                    List.of(new KeyLayout(prefix, 0), new KeyLayout(prefix, 10), KeyLayout.ofShards(prefix))) {
                boolean isFirst = layout.events("x").startsWith(prefix + ":0:events:");
                for (String key : List.of("a", ":a", "a:a", "}", "{a}", "0:grants:me", "a}:token")) {
                    List<String> all = new ArrayList<>(List.of(layout.events(key), layout.grants(key, "me")));
                    if (isFirst) { // keys are those of one database
                        all.addAll(layout.all(key));
                        if (prefix.contains(":")) {
                            all.add(KeyLayout.fences(prefix) + "{" + KeyLayout.escape(key) + "}:fence");
                        }
                    }
                    for (String name : all) {
                        String before = made.put(name, prefix + " " + key);
                        assertThat(before).as(name).isNull();
                    }
                }
            }
        }
    }

    @Test
    void channelsOfTwoDatabasesOrPrefixesDiffer() {
        assertThat(new KeyLayout("reactivelock", 1).events("a")).isNotEqualTo(names.events("a"));
        assertThat(new KeyLayout("other", 0).events("a")).isNotEqualTo(names.events("a"));
    }
}
