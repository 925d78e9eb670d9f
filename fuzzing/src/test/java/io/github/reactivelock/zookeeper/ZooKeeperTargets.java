package io.github.reactivelock.zookeeper;

import static io.github.reactivelock.fuzzing.Target.must;

import io.github.reactivelock.fuzzing.Target;
import io.github.reactivelock.spi.queue.Content;
import io.github.reactivelock.spi.queue.QueuePosition;
import io.github.reactivelock.state.Share;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Names of nodes below a lock, and what they hold. */
public final class ZooKeeperTargets {

    private static final int OWN = 7;
    private static final Pattern PLACE = Pattern.compile("(?s).*:([-+]?\\p{Nd}+)");
    private static final Pattern SHARE = Pattern.compile("(?s)[^:]+:\\+?\\p{Nd}+\\.\\+?\\p{Nd}+:[-+]?\\p{Nd}+");

    private ZooKeeperTargets() {}

    public static List<Target> all() {
        return List.of(
                Target.of(
                        "nodes of ZooKeeper",
                        ZooKeeperTargets::queue,
                        "whole\nyou:0000000005\nx:0000000009",
                        "whole\nyou:!client:0000000005",
                        "share\nyou:1.2147483647:0000000005\nx:2.3:0000000006"),
                Target.of(
                        "data of ZooKeeper",
                        text -> {
                            Content content = Content.parse(KeyLayout.text(KeyLayout.bytes(text)));
                            must(text.endsWith(content.owner()), "an owner out of its data");
                        },
                        "client 30000 an owner",
                        "client x owner"),
                Target.of("a lock of ZooKeeper", ZooKeeperTargets::name, "a%2Fb", "!client", "%2E.", "a+b"));
    }

    private static void name(String text) {
        String key = KeyLayout.key(text);
        must(key.isEmpty() || new KeyLayout("p").lock(key).equals("/p/" + text), "a key has one name");
    }

    /** The first line is what our claim wants; the others are the names of other nodes. */
    private static void queue(String text) {
        String[] lines = text.split("\n", 40);
        Share share = lines[0].equals("whole") ? Share.WHOLE : Share.ONE;
        List<String> names = new ArrayList<>();
        boolean wholeBefore = false;
        boolean anyBefore = false;
        for (String name : List.of(lines).subList(1, lines.length)) {
            SequenceNode node = SequenceNode.of(name);
            Matcher place = PLACE.matcher(name);
            must(node == null || place.matches(), "a place without a number");
            if (node == null
                    || name.startsWith("me:")
                    || names.contains(name)
                    || Math.abs((long) node.number()) > 1 << 29) {
                continue; // numbers of one queue lie near each other
            }
            must(node.number() == Integer.parseInt(place.group(1)), "its number");
            must(node.share().isWhole() || SHARE.matcher(name).matches(), "a share out of garbage");
            names.add(name);
            anyBefore |= node.number() < OWN;
            wholeBefore |= node.number() < OWN && !SHARE.matcher(name).matches();
        }
        if (names.stream().anyMatch(name -> SequenceNode.of(name).number() == OWN)) {
            return; // the server gives a number once
        }
        names.add(SequenceNode.prefix("me", share) + "0000000007");
        QueuePosition<SequenceNode> position = SequenceNode.queue(names).position("me");
        must(position.own() != null, "it is there");
        must(!position.isIn() || (share.isWhole() ? !anyBefore : !wholeBefore), "a grant out of garbage");
    }
}
