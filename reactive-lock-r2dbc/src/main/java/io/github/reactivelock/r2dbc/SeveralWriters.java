package io.github.reactivelock.r2dbc;

import java.util.List;
import java.util.Locale;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;

/**
 * Warns once a backend if the server is one of a cluster whose servers all take writes (Galera, MySQL's group
 * replication with several primaries): each grants by what it knows, and the certification of two writes comes later
 * or, for a read, not at all. It is no error, because over one of them only locks are right. Nothing depends on the
 * answer: a command goes on without one, over another connection where the question has cost this one.
 */
final class SeveralWriters {

    private static final Logger log = LoggerFactory.getLogger(SeveralWriters.class);

    /**
     * A server that does not know a variable has no row for it; one that is asked for its value would refuse the
     * statement.
     */
    private static final String VARIABLES =
            "SHOW VARIABLES WHERE Variable_name IN ('wsrep_on', 'group_replication_single_primary_mode')";

    private SeveralWriters() {}

    /** One question with the first connection, and none after its answer. */
    static Mono<Void> look(SqlSession session) {
        Sql sql = session.sql();
        Mono<Void> asked = session.queried(VARIABLES, row -> row.get(0, String.class) + "=" + row.get(1, String.class))
                .doOnNext(SeveralWriters::judge)
                .doOnCancel(sql::notAnswered)
                .then()
                .onErrorResume(error -> {
                    sql.notAnswered();
                    boolean isUsable = !R2dbcFailure.isBroken(error) && Database.isWhole(session.connection(), error);
                    return isUsable ? Mono.empty() : Mono.error(R2dbcFailure.stale());
                });
        return Mono.defer(() -> sql.asks() ? asked : Mono.empty());
    }

    static void judge(List<String> variables) {
        for (String variable : variables) {
            String said = variable.toLowerCase(Locale.ROOT);
            if (said.equals("wsrep_on=on") || said.equals("group_replication_single_primary_mode=off")) {
                log.warn(
                        "the database is one of a cluster whose servers may all take writes ({}), and two clients that write to"
                                + " different ones may hold one lock: let all clients of the locks connect to the same server,"
                                + " with another only after it has failed, or keep locks in a database with one primary",
                        variable);
            }
        }
    }
}
