package io.github.reactivelock.redis;

import static io.github.reactivelock.fuzzing.Target.must;
import static io.github.reactivelock.fuzzing.Target.read;

import io.github.reactivelock.fuzzing.Target;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.FencingTokens;
import io.github.reactivelock.spi.RenewalResult;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.spi.Vote;
import io.github.reactivelock.state.LockEvent;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/** Answers of the lock script, a line for each of their parts, and what is published. */
public final class RedisTargets {

    private static final KeyLayout NAMES = new KeyLayout("reactivelock", 0);

    private RedisTargets() {}

    public static List<Target> all() {
        return List.of(
                Target.of(
                        "an answer of Redis",
                        RedisTargets::answer,
                        "5",
                        "0",
                        "0\n1000\n7\nAAAAAAAAAAAAAAAAAAAAAA\n1",
                        "1\n7\nrun\n9\n-1\n\n7",
                        "2\n1000\nrun\n9\n-1",
                        "3\n1\n2\nERR refused",
                        "4294967297\n4294967297\nrun\n9\n-1",
                        "0\n7\n1000\n1\nme\n5\nyou\n5",
                        "0\n7\n1000\n1\nme\n5\n2\n1\n1\nme\n2\n7\n1000\nyou\n5"),
                Target.of(
                        "a message of Redis",
                        text -> push(text, message -> RedisReplies.signal(NAMES, message)),
                        "grant AAAAAAAAAAAAAAAAAAAAAA 7",
                        "grant AAAAAAAAAAAAAAAAAAAAAA 2251799813685247",
                        "recheck {reactivelock:%7Dx}",
                        "recall AAAAAAAAAAAAAAAAAAAAAA",
                        "forced AAAAAAAAAAAAAAAAAAAAAA"),
                Target.of("an event of Redis", RedisTargets::event, "acquired 7 me", "acquired 7/2 me", "released 7/2"),
                Target.of("a name of Redis", RedisTargets::name, "{reactivelock:a}", "{reactivelock:%7D%25}"));
    }

    private static void answer(String text) {
        List<Object> reply = new ArrayList<>();
        List<Claim> claims = new ArrayList<>();
        for (String line : text.split("\n", 40)) {
            Long number = Target.read(() -> Long.valueOf(line), NumberFormatException.class);
            reply.add(number == null ? line : number);
            claims.add(claim("claim" + claims.size()));
        }
        Claim claim = claims.get(0);

        ClaimResult result = read(() -> RedisReplies.claim(claim, reply), IllegalStateException.class);
        if (result instanceof ClaimResult.Granted granted) {
            must(isToken(reply.get(0), granted.fencingToken()), "granted by its first number");
        }
        Vote vote = read(() -> RedisReplies.vote(claim, reply), IllegalStateException.class);
        if (vote != null && vote.result() instanceof ClaimResult.Granted granted) {
            must(reply.get(0).equals(1L) && isToken(reply.get(1), granted.fencingToken()), "voted by its numbers");
        }
        RenewalResult renewed = read(() -> RedisReplies.renewal(claims, reply), IllegalStateException.class);
        if (renewed != null) {
            for (int i = 0; i < claims.size(); i++) {
                must(
                        !renewed.renewed().contains(claims.get(i).id())
                                || reply.get(i).equals(1L),
                        "renewed by a one");
            }
        }
        read(() -> RedisReplies.info("k", reply), IllegalStateException.class);
        read(() -> RedisReplies.isDecided(reply), IllegalStateException.class);
        read(() -> RedisReplies.flag(reply), IllegalStateException.class);
        read(() -> RedisReplies.last(reply), IllegalStateException.class);
        read(() -> RedisReplies.only(reply), IllegalStateException.class);
    }

    private static Claim claim(String id) {
        return new Claim("k", id, "me", Duration.ofSeconds(30), Claim.Mode.QUEUE);
    }

    private static boolean isToken(Object part, long token) {
        return part instanceof Long number
                && number > 0
                && number <= FencingTokens.HIGHEST_NUMBER
                && FencingTokens.number(token) == number;
    }

    /** Every signal is what its message says, letter for letter; what says nothing is none. */
    public static void push(String text, Function<String, Signal> reader) {
        Signal signal = reader.apply(text);
        if (signal instanceof Signal.Grant grant) {
            long number = FencingTokens.number(grant.fencingToken());
            must(number > 0, "a token of a store");
            must(text.equals("grant " + grant.claimId() + " " + number), "a grant out of garbage");
        } else if (signal instanceof Signal.Recheck recheck) {
            must(text.equals("recheck " + NAMES.owner(recheck.key())), "a recheck");
        } else if (signal instanceof Signal.Recall recall) {
            must(text.equals("recall " + recall.claimId()), "a recall");
        } else if (signal instanceof Signal.Suspect suspect) {
            must(text.equals("forced " + suspect.claimId()), "a forced release");
        } else {
            must(signal == null, "a signal that no message stands for");
        }
    }

    private static void event(String text) {
        LockEvent event = RedisReplies.event("k", text);
        if (event instanceof LockEvent.Acquired acquired) {
            must(text.startsWith("acquired " + FencingTokens.number(acquired.fencingToken())), "an acquisition");
        } else if (event instanceof LockEvent.Released released) {
            must(text.startsWith("released " + FencingTokens.number(released.fencingToken())), "a release");
        }
    }

    private static void name(String text) {
        String key = NAMES.key(text);
        must(key == null || NAMES.owner(key).equals(text), "a key has one name");
    }
}
