package io.github.reactivelock.vertx;

import io.vertx.core.Future;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.RedisConnection;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Which primary of a cluster has which slots, for error messages: the Vert.x client knows, and does not tell. It is
 * asked for when a connection is opened, and again while an answer is late: any node may be asked, also one that is
 * silent, and slots may have moved. All but {@link #of} runs on one event loop.
 */
final class Primaries {

    /** The client chooses the node, so one that is asked may be silent. */
    private static final int MOST_UNANSWERED = 8;
    /** Chance may put all questions to nodes that are silent, and none is put to another one for so long. */
    private static final Duration LONGEST = Duration.ofSeconds(20);

    private record Range(int from, int to, String primary) {}

    private final Duration longest;
    private volatile List<Range> known = List.of();
    private int unanswered;

    Primaries() {
        this(LONGEST);
    }

    /** @param longest how long a question counts as unanswered */
    Primaries(Duration longest) {
        this.longest = longest;
    }

    /**
     * Host and port of the primary that has a slot.
     *
     * @return empty while that is not known
     */
    String of(int slot) {
        return known.stream()
                .filter(range -> range.from <= slot && slot <= range.to)
                .map(Range::primary)
                .findFirst()
                .orElse("");
    }

    /** Not over the link, which takes a question without an answer for the silence of a connection. */
    void ask(RedisConnection connection) {
        if (unanswered >= MOST_UNANSWERED) {
            return;
        }
        unanswered++;
        try {
            Future<Response> asked =
                    connection.send(Request.cmd(Command.CLUSTER).arg("SLOTS"));
            asked.timeout(longest.toMillis(), TimeUnit.MILLISECONDS).onComplete((said, error) -> {
                unanswered--;
                learn(said);
            });
        } catch (RuntimeException ended) { // the connection has, and the next one asks again
            unanswered--;
        }
    }

    private void learn(@Nullable Response said) {
        if (said == null) { // a user may lack the permission
            return;
        }
        List<Range> ranges = new ArrayList<>();
        for (Response range : said) {
            Response primary = range.get(2);
            Response host = primary.get(0);
            if (host != null && !host.toString().isEmpty()) { // a node may not know its own
                ranges.add(new Range(range.get(0).toInteger(), range.get(1).toInteger(), host + ":" + primary.get(1)));
            }
        }
        known = List.copyOf(ranges);
    }
}
