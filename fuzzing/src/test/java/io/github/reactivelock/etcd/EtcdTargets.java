package io.github.reactivelock.etcd;

import static io.github.reactivelock.fuzzing.Target.must;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.KeyValue;
import io.github.reactivelock.fuzzing.Target;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.state.Share;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/** Names and values of keys below a lock, which a stranger may have put. */
public final class EtcdTargets {

    private static final KeyLayout NAMES = new KeyLayout("p");
    private static final KeySlot PLACE = new KeySlot("k", "me", 1, 1);
    private static final Pattern SHARE = Pattern.compile("[^.]*\\.[^.]*\\.[^.]*\\.(1|\\+?\\p{Nd}+\\.\\+?\\p{Nd}+)");

    private EtcdTargets() {}

    public static List<Target> all() {
        return List.of(
                Target.of(
                        "keys of etcd",
                        EtcdTargets::queue,
                        "whole\nyou.1.1\nme",
                        "whole\nme\nyou.1.1.r",
                        "share\nyou.1.1.1\nme\nx.1.1.2.3",
                        "share\nx.1.1.2147483647.2147483647\nme"),
                Target.of("a value of etcd", EtcdTargets::value, "session claim an owner", "session"),
                Target.of("a name of a key", EtcdTargets::name, "a%2Fb", "-._:", "a+b"));
    }

    /** The first line is what our claim wants; the others are the names of claims in their order, ours among them. */
    private static void queue(String text) {
        String[] lines = text.split("\n", 40);
        Share share = lines[0].equals("whole") ? Share.WHOLE : Share.ONE;
        ByteSequence own = NAMES.claim(PLACE, share);
        List<KeyValue> keys = new ArrayList<>();
        long ownRevision = 0;
        boolean sharesOnly = true;
        for (int i = 1; i < lines.length; i++) {
            boolean isOwn = lines[i].equals("me");
            ByteSequence name = isOwn ? own : KeyLayout.bytes("p/k/" + lines[i]);
            if ((isOwn && ownRevision != 0) || (!isOwn && name.equals(own))) {
                continue;
            }
            keys.add(key(name, lines[i], i));
            if (isOwn) {
                ownRevision = i;
            } else if (ownRevision == 0) {
                String last = lines[i].substring(lines[i].lastIndexOf('/') + 1);
                sharesOnly &= SHARE.matcher(last).matches();
            }
        }
        if (ownRevision == 0) {
            return;
        }
        Claim claim =
                new Claim("k", "claim", "me", Duration.ofSeconds(30), Claim.Mode.QUEUE, Claim.Keeping.RENEWED, share);
        ClaimState state = new ClaimState(claim, PLACE, own, KeyLayout.bytes("me claim me"));
        boolean isFirst = keys.get(0).getKey().equals(own);
        for (boolean isPart : new boolean[] {false, true}) {
            QueuePosition position =
                    KeyQueue.of(keys).index(lines.length, isPart).positionOf(state, ownRevision);
            boolean isIn = position.revision() > 0 && position.predecessor() == null;
            must(!isIn || isFirst || (!share.isWhole() && sharesOnly), "a grant out of garbage");
        }
    }

    private static KeyValue key(ByteSequence name, String value, long revision) {
        KeyValue key = new KeyValue(
                io.etcd.jetcd.api.KeyValue.newBuilder()
                        .setKey(ByteString.copyFrom(name.getBytes()))
                        .setValue(ByteString.copyFromUtf8(value))
                        .setCreateRevision(revision)
                        .setModRevision(revision)
                        .setVersion(1)
                        .build(),
                ByteSequence.EMPTY);
        Target.use(KeyLayout.tail(name), KeyLayout.key(name), NAMES.withoutNamespace(name));
        if (KeyLayout.isRecallable(key)) {
            Target.use(KeyLayout.session(name));
        }
        return key;
    }

    private static void value(String text) {
        ClaimValue value = ClaimValue.of(key(KeyLayout.bytes("p/k/you.1.1"), text, 1));
        must(value.claimId().isEmpty() || text.contains(" " + value.claimId()), "a claim out of its value");
    }

    private static void name(String text) {
        String name = "p/" + text.substring(text.lastIndexOf('/') + 1) + "/";
        String key = KeyLayout.key(KeyLayout.bytes(name + "place"));
        must(key.isEmpty() || NAMES.lock(key).equals(KeyLayout.bytes(name)), "a key has one name");
    }
}
