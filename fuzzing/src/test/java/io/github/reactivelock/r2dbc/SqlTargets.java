package io.github.reactivelock.r2dbc;

import static io.github.reactivelock.fuzzing.Target.must;

import io.github.reactivelock.fuzzing.Target;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.FencingTokens;
import io.github.reactivelock.spi.Signal;
import io.r2dbc.spi.Row;
import io.r2dbc.spi.RowMetadata;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/** Notices of PostgreSQL, which every user of the database may send, and rows. */
public final class SqlTargets {

    private static final String CHANNEL = "reactive_lock.client";
    private static final Claim CLAIM =
            new Claim("k", "AAAAAAAAAAAAAAAAAAAAAA", "me", Duration.ofSeconds(30), Claim.Mode.QUEUE);

    private SqlTargets() {}

    public static List<Target> all() {
        return List.of(
                Target.of(
                        "a notice of PostgreSQL",
                        SqlTargets::notice,
                        "grant AAAAAAAAAAAAAAAAAAAAAA 7",
                        "grant AAAAAAAAAAAAAAAAAAAAAA 9007199254740993",
                        "recall AAAAAAAAAAAAAAAAAAAAAA 0",
                        "forced AAAAAAAAAAAAAAAAAAAAAA 7"),
                Target.of(
                        "a row",
                        SqlTargets::row,
                        "claim_id=AAAAAAAAAAAAAAAAAAAAAA\ntoken=7\nremaining=1000",
                        "claim_id=AAAAAAAAAAAAAAAAAAAAAA\ntoken=0\nremaining=1000",
                        "claim_id=AAAAAAAAAAAAAAAAAAAAAA\ntoken=9007199254740993\nremaining=1000",
                        "claim_id=AAAAAAAAAAAAAAAAAAAAA!\ntoken=9007199254740993\nremaining=1000",
                        "token=7\nremaining=0"));
    }

    private static void notice(String text) {
        Signal signal = SignalSink.read(new PgNotifications.Notice(CHANNEL, text), CHANNEL);
        if (signal instanceof Signal.Grant grant) {
            long number = FencingTokens.number(grant.fencingToken());
            must(number > 0 && number <= FencingTokens.HIGHEST_NUMBER, "a token of a store");
            must(text.matches("(?s)grant " + Pattern.quote(grant.claimId()) + " 0*" + number), "garbage");
        }
    }

    private static void row(String text) {
        Map<String, String> columns = new HashMap<>();
        for (String line : text.split("\n", 20)) {
            int equals = line.indexOf('=');
            if (equals > 0) {
                columns.put(line.substring(0, equals), line.substring(equals + 1));
            }
        }
        Seen seen = Target.read(() -> Seen.read(row(columns)), NullPointerException.class); // an empty column
        if (seen == null) {
            return;
        }
        ClaimResult result = Target.read(
                () -> Target.read(() -> seen.answer(CLAIM).block(), IllegalArgumentException.class),
                IllegalStateException.class);
        must(
                !(result instanceof ClaimResult.Granted granted)
                        || (CLAIM.id().equals(columns.get("claim_id"))
                                && FencingTokens.number(granted.fencingToken()) == seen.token()),
                "a grant out of garbage");
    }

    private static Row row(Map<String, String> columns) {
        return new Row() {
            @Override
            public RowMetadata getMetadata() {
                throw new UnsupportedOperationException();
            }

            @Override
            public <T> T get(int index, Class<T> type) {
                throw new UnsupportedOperationException();
            }

            @Override
            public <T> T get(String name, Class<T> type) {
                String text = columns.get(name);
                if (type == String.class || text == null) {
                    return type.cast(text);
                }
                return type.cast(Target.read(() -> Long.valueOf(text), NumberFormatException.class));
            }
        };
    }
}
