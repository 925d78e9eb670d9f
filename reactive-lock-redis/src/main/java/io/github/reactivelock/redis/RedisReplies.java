package io.github.reactivelock.redis;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.FencingTokens;
import io.github.reactivelock.spi.RenewalResult;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.spi.Vote;
import io.github.reactivelock.state.LockEvent;
import io.github.reactivelock.state.LockInfo;
import io.github.reactivelock.state.LossReason;
import io.github.reactivelock.state.Share;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Reads what the script answers and publishes. Answers come from our own script, so a strange one is an error; messages
 * may come from any client, so a strange one is null.
 */
final class RedisReplies {

    private static final long UNDECIDED = -1;
    private static final String TOKEN = "([1-9][0-9]{0,15})";
    /** Units of a share. */
    private static final String UNITS = "(?:/([1-9][0-9]{0,9}))?";

    private static final Pattern GRANT = Pattern.compile("grant (\\S{1,64}) " + TOKEN);
    private static final Pattern RECHECK = Pattern.compile("recheck (.{1,2048})", Pattern.DOTALL);
    private static final Pattern RECALL = Pattern.compile("recall (\\S{1,64})");
    private static final Pattern FORCED = Pattern.compile("forced (\\S{1,64})");
    private static final Pattern ACQUIRED = Pattern.compile("acquired " + TOKEN + UNITS + " (.*)", Pattern.DOTALL);
    private static final Pattern RELEASED = Pattern.compile("released " + TOKEN + UNITS);

    /** Behind the name of a claim that can be called back. No name has a control character. */
    private static final String RECALLABLE = "\u001e";

    private RedisReplies() {}

    /** The name of such a claim, as the script keeps it. */
    static String recallable(String owner) {
        return owner + RECALLABLE;
    }

    private static String owner(String name) {
        return name.endsWith(RECALLABLE) ? name.substring(0, name.length() - 1) : name;
    }

    /**
     * Whether the answer to a claim or a vote is one. Behind a great many dead claims the script says that it has to be
     * asked again, so that the server is not kept from others.
     */
    static boolean isDecided(List<Object> reply) {
        return number(reply, 0) != UNDECIDED;
    }

    /** The answer to a batch of one call, of which an error is answered with its text. */
    @SuppressWarnings("unchecked") // an array of the script's
    static List<Object> only(List<Object> reply) {
        if (reply.isEmpty()) {
            throw strange(reply);
        }
        Object answer = reply.get(0);
        if (answer instanceof String error) {
            throw new IllegalStateException(error);
        }
        return answer instanceof List<?> ? (List<Object>) answer : List.of(answer);
    }

    /**
     * The token of a grant, or zero; then, for a queued claim, what is left of the lease, the last token, who is before
     * it, if anybody, and what {@link #isDeaf} tells.
     */
    static ClaimResult claim(Claim claim, List<Object> reply) {
        long token = number(reply, 0);
        if (token != 0) {
            return new ClaimResult.Granted(fencingToken(token), claim.lease());
        }
        if (reply.size() == 1) {
            return new ClaimResult.Busy();
        }
        long newest = number(reply, 2);
        String before = reply.size() > 3 ? String.valueOf(reply.get(3)) : "";
        return new ClaimResult.Queued(
                Duration.ofMillis(number(reply, 1)),
                before.isEmpty() ? null : before,
                newest == 0 ? 0 : fencingToken(newest));
    }

    /** Whether a claim was queued whose client believes that it is heard, and the server knows of no subscriber. */
    static boolean isDeaf(List<Object> reply) {
        return reply.size() == 5;
    }

    static Vote vote(Claim claim, List<Object> reply) {
        int outcome = small(reply, 0);
        ClaimResult result = switch (outcome) {
            case 1 -> new ClaimResult.Granted(fencingToken(number(reply, 1)), claim.lease());
            case 2 -> new ClaimResult.Queued(Duration.ofMillis(number(reply, 1)));
            case 3 -> new ClaimResult.Busy();
            default -> throw strange(reply);
        };
        long firstWaiting = number(reply, 4);
        return new Vote(
                result,
                text(reply, 2),
                Duration.ofSeconds(number(reply, 3)),
                firstWaiting < 0 ? Vote.NOBODY : firstWaiting,
                reply.size() > 5 ? String.valueOf(reply.get(5)) : "",
                reply.size() > 6 ? FencingTokens.of(number(reply, 6)) : 0);
    }

    /** What is refused about a claim is answered with the error's text. */
    static RenewalResult renewal(List<Claim> held, List<Object> reply) {
        Set<String> renewed = new HashSet<>();
        Map<String, LossReason> lost = new HashMap<>();
        Map<String, Throwable> refused = new HashMap<>();
        for (int i = 0; i < held.size(); i++) {
            String id = held.get(i).id();
            if (i < reply.size() && reply.get(i) instanceof String error) {
                refused.put(id, new IllegalStateException(error));
                continue;
            }
            int outcome = small(reply, i);
            switch (outcome) {
                case 1 -> renewed.add(id);
                case 2 -> lost.put(id, LossReason.EXPIRED);
                case 3 -> lost.put(id, LossReason.TAKEN_OVER);
                default -> throw strange(reply);
            }
        }
        return new RenewalResult(renewed, lost, refused);
    }

    /** The first number of the answers to release, force and watch. */
    static boolean flag(List<Object> reply) {
        return number(reply, 0) == 1;
    }

    /** What stands behind the script's own answer. */
    static long last(List<Object> reply) {
        return number(reply, reply.size() - 1);
    }

    /**
     * The reply for a held lock: token, rest of the lease, waiters, owner, age; if it is shared, units in use, how many
     * have them and how many of these follow, each with owner, units, token, rest of the lease; then owner and age of
     * each claim that waits.
     */
    static LockInfo info(String key, List<Object> reply) {
        if (reply.size() == 1) {
            return new LockInfo.Free(key);
        }
        boolean isShared = reply.size() > 6 && reply.get(6) instanceof Long;
        int shown = isShared ? small(reply, 8) : 0;
        if (shown > reply.size()) {
            throw strange(reply);
        }
        List<LockInfo.Waiting> queue = new ArrayList<>();
        for (int i = isShared ? 9 + 4 * shown : 6; i < reply.size(); i += 2) {
            queue.add(new LockInfo.Waiting(owner(text(reply, i)), micros(number(reply, i + 1))));
        }
        return new LockInfo.Held(
                key,
                owner(text(reply, 4)),
                fencingToken(number(reply, 1)),
                Duration.ofMillis(number(reply, 2)),
                number(reply, 3),
                micros(number(reply, 5)),
                queue,
                isShared ? shares(reply, shown) : null,
                text(reply, 4).endsWith(RECALLABLE));
    }

    private static LockInfo.Shares shares(List<Object> reply, int shown) {
        List<LockInfo.Holder> holders = new ArrayList<>();
        for (int i = 9; i < 9 + 4 * shown; i += 4) {
            holders.add(new LockInfo.Holder(
                    text(reply, i),
                    small(reply, i + 1),
                    fencingToken(number(reply, i + 2)),
                    Duration.ofMillis(number(reply, i + 3))));
        }
        return new LockInfo.Shares(small(reply, 6), number(reply, 7), holders);
    }

    private static Duration micros(long number) {
        return Duration.of(number, ChronoUnit.MICROS);
    }

    static @Nullable Signal signal(KeyLayout names, String message) {
        Matcher matcher = GRANT.matcher(message);
        if (matcher.matches()) {
            long token = Long.parseLong(matcher.group(2));
            return token > FencingTokens.HIGHEST_NUMBER
                    ? null
                    : new Signal.Grant(matcher.group(1), fencingToken(token));
        }
        if (matcher.usePattern(RECHECK).matches()) {
            String key = names.key(matcher.group(1));
            return key == null ? null : new Signal.Recheck(key);
        }
        if (matcher.usePattern(RECALL).matches()) {
            return new Signal.Recall(matcher.group(1));
        }
        return matcher.usePattern(FORCED).matches() ? new Signal.Suspect(matcher.group(1), LossReason.FORCED) : null;
    }

    static @Nullable LockEvent event(String key, String message) {
        Matcher matcher = RELEASED.matcher(message);
        boolean released = matcher.matches();
        if (!released && !matcher.usePattern(ACQUIRED).matches()) {
            return null;
        }
        long token = Long.parseLong(matcher.group(1));
        if (token > FencingTokens.HIGHEST_NUMBER) {
            return null;
        }
        String told = matcher.group(2);
        long units = told == null ? Share.WHOLE.units() : Long.parseLong(told);
        if (units > Share.WHOLE.units()) {
            return null;
        }
        return released
                ? new LockEvent.Released(key, fencingToken(token), (int) units)
                : new LockEvent.Acquired(key, owner(matcher.group(3)), fencingToken(token), (int) units);
    }

    private static long fencingToken(long token) {
        if (token <= 0 || token > FencingTokens.HIGHEST_NUMBER) {
            throw new IllegalStateException("the token counter stands at " + token
                    + ", which leaves no room above it: delete the lock's ':token' key while the lock is free");
        }
        return FencingTokens.of(token);
    }

    private static long number(List<Object> reply, int index) {
        if (index >= 0 && index < reply.size() && reply.get(index) instanceof Long number) {
            return number;
        }
        throw strange(reply);
    }

    /** One that has no sense above a few thousand, and none below zero. */
    private static int small(List<Object> reply, int index) {
        long number = number(reply, index);
        if (number < 0 || number > Integer.MAX_VALUE) {
            throw strange(reply);
        }
        return (int) number;
    }

    private static String text(List<Object> reply, int index) {
        if (index >= reply.size()) {
            throw strange(reply);
        }
        return String.valueOf(reply.get(index));
    }

    private static IllegalStateException strange(List<Object> reply) {
        return new IllegalStateException("the lock script gave an answer of an unknown form: " + reply);
    }
}
