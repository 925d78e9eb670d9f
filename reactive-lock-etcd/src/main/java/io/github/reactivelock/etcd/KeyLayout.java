package io.github.reactivelock.etcd;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.KeyValue;
import io.etcd.jetcd.op.Cmp;
import io.etcd.jetcd.op.CmpTarget;
import io.github.reactivelock.spi.support.KeyNames;
import io.github.reactivelock.state.Share;
import java.nio.charset.StandardCharsets;

/**
 * The names of keys in etcd: {@code PREFIX/KEY/PLACE} for a claim, {@code PREFIX/!SESSION} for notices to one client.
 * What a claim takes is at the end of its name: nothing for the whole, {@code .1} for one share among any number,
 * {@code .UNITS.CAPACITY} for permits. That of one which can be called back ends with {@code .r}. The user's key is
 * encoded as {@link KeyNames} says.
 */
record KeyLayout(String prefix) {

    private static final ByteString SLASH = ByteString.copyFromUtf8("/");
    private static final ByteString AFTER_SLASH = ByteString.copyFromUtf8("0");
    private static final String RECALLABLE = ".r";

    /** The range in which all claims of a lock are, and nothing else. */
    ByteSequence lock(String key) {
        return bytes(prefix + "/" + KeyNames.encode(key) + "/");
    }

    /**
     * Holds if no claim came to a lock after a revision. A client made here asks that of the whole range; of jetcd's
     * own one it is asked of a key that is never there, so it always holds.
     */
    Cmp nothingSince(String key, long revision) {
        return new Cmp(lock(key), Cmp.Op.LESS, CmpTarget.createRevision(revision + 1));
    }

    /** Whether this is the beginning of the names of a lock's claims, and not the name of one. */
    static boolean isOfALock(ByteString name) {
        return name.endsWith(SLASH);
    }

    /** The end of the range in which all claims of a lock are. */
    static ByteString endOfLock(ByteString lock) {
        return lock.substring(0, lock.size() - 1).concat(AFTER_SLASH);
    }

    /** Where the names of all locks begin whose keys begin so. */
    ByteSequence locks(String keyPrefix) {
        return bytes(prefix + "/" + KeyNames.encode(keyPrefix));
    }

    /** The end of what begins with such a name. */
    ByteSequence endOfLocks(String keyPrefix) {
        return bytes(prefix + "/" + KeyNames.encode(keyPrefix) + "\u007f"); // a name has printable signs of ASCII only
    }

    /** The user's key in a claim's name, or empty if the name is no claim's. */
    static String key(ByteSequence name) {
        String tail = tail(name);
        int slash = tail.indexOf('/');
        if (slash < 0) {
            return "";
        }
        String key = KeyNames.decode(tail.substring(0, slash));
        return KeyNames.encode(key).equals(tail.substring(0, slash)) ? key : "";
    }

    ByteSequence claim(KeySlot place) {
        return bytes(prefix + "/" + KeyNames.encode(place.key()) + "/" + place);
    }

    ByteSequence claim(KeySlot place, Share share) {
        ByteSequence whole = claim(place);
        if (share.isWhole()) {
            return whole;
        }
        String part = share.equals(Share.ONE) ? ".1" : "." + share.units() + "." + share.capacity();
        return whole.concat(bytes(part));
    }

    /** The name of a claim for the whole that can be called back. */
    static ByteSequence recallable(ByteSequence claim) {
        return claim.concat(bytes(RECALLABLE));
    }

    /** Whether a claim can be called back. A key that is left to another claim is put a second time. */
    static boolean isRecallable(KeyValue claim) {
        return claim.getKey().toString().endsWith(RECALLABLE) && claim.getVersion() == 1;
    }

    /** The client that made the claim of that name. */
    static String session(ByteSequence name) {
        String text = name.toString();
        int place = text.lastIndexOf('/') + 1;
        return text.substring(place, text.indexOf('.', place));
    }

    /** What the claim of that name takes. A name that cannot be read counts as an owner of the whole. */
    static Share share(ByteSequence name) {
        String text = name.toString();
        String[] words = text.substring(text.lastIndexOf('/') + 1).split("\\.", -1);
        try {
            return switch (words.length) {
                case 4 -> words[3].equals("1") ? Share.ONE : Share.WHOLE;
                case 5 -> Share.permits(Integer.parseInt(words[3]), Integer.parseInt(words[4]));
                default -> Share.WHOLE;
            };
        } catch (IllegalArgumentException e) { // not ours
            return Share.WHOLE;
        }
    }

    ByteSequence notice(String session) {
        return bytes(prefix + "/!" + session);
    }

    /** The notice that names the claim of a client which is called back. No marker of a lease has that name. */
    static ByteSequence recalls(ByteSequence notice) {
        return notice.concat(bytes("!recall"));
    }

    /**
     * A key that is bound to a lease of a client and shows by its end that of the lease. Unlike a claim it has no
     * queue.
     */
    ByteSequence marker(String session, String lease) {
        return bytes(prefix + "/!" + session + "!" + lease.replace('/', '!'));
    }

    /** What tells a claim's name from others of this prefix, {@code KEY/PLACE}; nothing if the name is no claim's. */
    static String tail(ByteSequence name) {
        String text = name.toString();
        int place = text.lastIndexOf('/');
        return text.startsWith("!", place + 1) ? "" : text.substring(text.lastIndexOf('/', place - 1) + 1);
    }

    /** The name without the namespace of the user's jetcd client, which some of etcd's answers show. */
    ByteSequence withoutNamespace(ByteSequence name) {
        String text = name.toString();
        int lock = text.lastIndexOf('/', text.lastIndexOf('/') - 1);
        int start = Math.max(0, lock - prefix.length());
        return bytes(text.substring(start));
    }

    static ByteSequence bytes(String text) {
        return ByteSequence.from(text, StandardCharsets.UTF_8);
    }
}
