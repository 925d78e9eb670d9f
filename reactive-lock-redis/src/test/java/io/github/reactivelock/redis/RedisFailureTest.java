package io.github.reactivelock.redis;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.ConnectException;
import java.net.UnknownHostException;
import java.util.List;
import java.util.concurrent.CompletionException;
import javax.net.ssl.SSLHandshakeException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RedisFailureTest {

    private final FakeConnection connection = new FakeConnection();

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "NOAUTH Authentication required.|put user and password into the URI",
                "WRONGPASS invalid username-password pair or user is disabled.|check those in the URI",
                "NOPERM this user has no permissions to run the 'evalsha' command|~mine:* &mine:*",
                "ERR The user executing the script can't run this command or subcommand script: x|~mine:* &mine:*",
                "OOM command not allowed when used memory > 'maxmemory'. script: x|raise maxmemory",
                "ERR Error running script (call to f_1): @user_script:9: -OOM command not allowed when used"
                        + " memory|raise maxmemory",
                "READONLY You can't write against a read only replica. script: x|connect to the primary",
                "LOADING Redis is loading the dataset in memory|is loading its data",
                "BUSY Redis is busy running a script. You can only call SCRIPT KILL|SCRIPT KILL",
                "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.|lost its primary",
                "NOREPLICAS Not enough good replicas to write.|min-replicas-to-write",
                "MISCONF Redis is configured to save RDB snapshots, but it's unable to persist|mend the disk",
                "DENIED Redis is running in protected mode|set a password or bind",
                "ERR AUTH <password> called without any password configured for the default user.|leave it out of the"
                        + " URI",
                "ERR max number of clients reached|raise maxclients",
                "ERR DB index is out of range|has no database 0",
                "ERR SELECT is not allowed in cluster mode|connect to it as to a cluster",
                "MOVED 14539 127.0.0.1:7001|one node of a cluster, and this lock is another's (MOVED 14539"
                        + " 127.0.0.1:7001)",
                "CROSSSLOT Keys in request don't hash to the same slot|connect to it as to a cluster",
                "ERR This instance has cluster support disabled|connect to it as to a single server",
                "ERR unknown command 'SENTINEL', with args beginning with: 'x'|is no sentinel (ERR unknown command"
                        + " 'SENTINEL'):",
                "ERR unknown command 'EVALSHA', with args beginning with: 'x'|runs no scripts (ERR unknown command"
                        + " 'EVALSHA'):",
                "Connection closed prematurely|write rediss://",
                "not an SSL/TLS record: 2d455252|write redis://",
                "ERR something new|something new",
            })
    void whatTheServerSaidBecomesACauseAndARemedy(String said, String remedy) {
        Throwable error = new CompletionException(new RuntimeException("outer", new RuntimeException(said)));

        assertThat(RedisFailure.explain(connection, "mine", error))
                .hasMessageContaining("Redis at fake:1")
                .hasMessageContaining(remedy.replace("~mine:*", "~{mine:*"))
                .hasCause(error);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "READONLY You can't write against a read only replica. script: x, on @user_script:1.|true",
                "ERR Error running script (call to f_1): @user_script:56: @user_script: 56: -READONLY You can't"
                        + " write|true",
                "@user_script: 56: -READONLY You can't write against a read only replica.|true",
                "ERR Error running script (call to f_1): @user_script:9: @user_script: 9: -TRYAGAIN Multiple keys|true",
                "CLUSTERDOWN Hash slot not served|true",
                "CLUSTERDOWN|true",
                "LOADING Redis is loading the dataset in memory|true",
                "BUSY Redis is busy running a script.|true",
                "BUSYKEY Target key name already exists.|false",
                "MASTERDOWN Link with MASTER is down|true",
                "NOREPLICAS Not enough good replicas to write.|true",
                "@user_script: 56: -NOREPLICAS Not enough good replicas to write.|true",
                "ERR max number of clients reached|true",
                "ERR max number of clients + cluster connections reached|true",
                "MISCONF Redis is configured to save RDB snapshots|false",
                "WRONGPASS invalid username-password pair|false",
                "ERR Error running script (call to f_1): @user_script:1: @user_script: 1: -OOM command not"
                        + " allowed|false",
                "ERR Error running script (call to f_1): @user_script:1: attempt to index READONLY|false",
                "ERR unknown user 'READONLY'|false",
            })
    void whatPassesIsKnownInTheWordsOfEveryVersion(String said, boolean passes) {
        assertThat(RedisFailure.isPassing(new CompletionException(new RuntimeException(said))))
                .isEqualTo(passes);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "NOPERM this user has no permissions to run the 'evalsha' command|it needs {}~{mine:* &mine:*",
                "ERR The user executing the script can't run this command or subcommand|it needs {}~{mine:* &mine:*",
                "scripts cannot run PUBLISH|let this user run them with {}+time",
            })
    void aMissingPermissionIsToldWithTheUsersNameOrInWords(String said, String advice) {
        assertThat(RedisFailure.explain(connection, "mine", new RuntimeException(said)))
                .hasMessageContaining(advice.replace("{}", "ACL SETUSER, for the user that ACL WHOAMI names, with "));
        connection.user = "orders";
        assertThat(RedisFailure.explain(connection, "mine", new RuntimeException(said)))
                .hasMessageContaining(advice.replace("{}", "ACL SETUSER orders "));
    }

    @Test
    void aServerThatNamesTheUserKnowsBest() {
        connection.user = "orders";
        Throwable error = new CompletionException(
                new RuntimeException("NOPERM User shop has no permissions to run the 'evalsha' command"));

        assertThat(RedisFailure.explain(connection, "mine", error)).hasMessageContaining("ACL SETUSER shop ~");
        assertThat(RedisFailure.channel(connection, "mine", "mine:0:grants:x", error))
                .hasMessageContaining("ACL SETUSER shop &mine:*");
    }

    /** A reset after hours says nothing about TLS. */
    @Test
    void aConnectionsEndMeansMissingTlsOnlyBeforeAnyWasOpen() {
        Throwable error = new RuntimeException("Connection reset");

        assertThat(RedisFailure.explain(connection, "mine", error)).hasMessageContaining("write rediss://");
        connection.wasReady = true;
        assertThat(RedisFailure.explain(connection, "mine", error))
                .hasMessageContaining("Connection reset")
                .hasMessageNotContaining("TLS");
    }

    @Test
    void whatLastsIsKnownFromSilenceAndFromWhatPasses() {
        assertThat(RedisRefusal.of(new RuntimeException("WRONGPASS invalid username-password pair")))
                .isEqualTo(RedisRefusal.LASTS);
        assertThat(RedisRefusal.of(new RuntimeException("ERR DB index is out of range")))
                .isEqualTo(RedisRefusal.LASTS);
        assertThat(RedisRefusal.of(new RuntimeException("no way", new ConnectException("Connection refused"))))
                .isEqualTo(RedisRefusal.UNKNOWN);
    }

    @Test
    void aClassThatIsMissingIsSaidToBe() {
        Throwable error = new NoClassDefFoundError("io/netty/Channel");
        error.initCause(new ClassNotFoundException("io.netty.Channel"));

        assertThat(RedisFailure.explain(connection, "mine", new CompletionException(error)))
                .hasMessageContaining("ClassNotFoundException: io.netty.Channel");
    }

    @Test
    void aRefusedConnectionSaysSo() {
        Throwable error = new RuntimeException("no way", new ConnectException("Connection refused"));

        assertThat(RedisFailure.explain(connection, "mine", error))
                .hasMessageContaining("cannot be reached (Connection refused)");
    }

    @Test
    void aCertificateThatIsNotTrustedSaysSo() {
        Throwable error = new RuntimeException("no way", new SSLHandshakeException("unable to find valid path"));

        assertThat(RedisFailure.explain(connection, "mine", error))
                .hasMessageContaining("cannot agree on TLS (unable to find valid path)");
    }

    @Test
    void aDriversReasonIsFoundInManyLinesAndGivenInOne() {
        RuntimeException beside = new RuntimeException("none of the nodes answered\n\nDetails:\n");
        beside.addSuppressed(new RuntimeException("ERR This instance has cluster support disabled"));
        RuntimeException lines = new RuntimeException(
                "no endpoint\n- a.driver.ErrorType: ERR This instance has cluster support disabled");

        for (Throwable error : List.of(beside, lines)) {
            assertThat(RedisFailure.explain(connection, "mine", error))
                    .hasMessageStartingWith(
                            "Redis at fake:1 is no cluster (ERR This instance has cluster support disabled): connect")
                    .hasMessageNotContaining("\n");
        }
        assertThat(RedisFailure.explain(connection, "mine", new RuntimeException("odd\nthing")))
                .hasMessage("Redis at fake:1 refused or failed: odd");
    }

    @Test
    void aHostThatNobodyKnowsSaysSo() {
        Throwable error = new RuntimeException("no way", new UnknownHostException("nowhere.invalid"));

        assertThat(RedisFailure.explain(connection, "mine", error))
                .hasMessageContaining("cannot be found (nowhere.invalid)");
    }

    @Test
    void anErrorWithoutWordsIsNamedByItsType() {
        assertThat(RedisFailure.explain(connection, "mine", new UnsupportedOperationException()))
                .hasMessageContaining("UnsupportedOperationException");
    }

    @Test
    void aForbiddenChannelIsNamed() {
        Throwable error = new RuntimeException("NOPERM this user has no permissions to access one of the channels");

        assertThat(RedisFailure.channel(connection, "mine", "mine:0:grants:x", error))
                .hasMessageContaining("'mine:0:grants:x'")
                .hasMessageContaining("&mine:*");
    }
}
