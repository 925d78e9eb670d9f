package io.github.reactivelock.consul;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.LockUnavailableException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which answers of a server pass, and which are the same however often it is asked. */
class ConsulFailureTest extends Fixture {

    private static Answer answer(int status, String said) {
        return new Answer(status, 0, said, false);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "No cluster leader",
                "No known Consul servers",
                "rpc error making call: No cluster leader",
                "rpc error making call: EOF",
                "rpc error getting client: failed to get conn: dial tcp 10.0.0.1:8300: connect: connection refused",
                "rpc error making call: i/o deadline reached",
                "rpc error making call: stream closed",
                "Raft leader not found in server lookup mapping",
                "leadership lost while committing log",
                "leadership transfer in progress",
                "node is not the leader",
                "raft is already shutdown",
                "timed out enqueuing operation",
                "Missing node registration", // of an agent that has just begun
                "write /consul/data/raft/raft.db: no space left on device" // of a leader, which steps down
            })
    void whatPassesIsAskedAgain(String said) {
        assertThat(answer(500, said).passes()).isTrue();
    }

    @ParameterizedTest
    @ValueSource(ints = {429, 500, 502, 503, 504})
    void aProxyWithoutAnAgentIsAskedAgain(int status) {
        assertThat(answer(status, "<html>upstream</html>").passes()).isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Permission denied",
                "rpc error making call: Permission denied",
                "rpc error making call: ACL not found",
                "ACL support disabled",
                "invalid session \"11111111-1111-1111-1111-111111111111\"",
                "rpc error making call: failed session lookup: index error: UUID must be 36 characters",
                "Invalid Session TTL '5000000000', must be between [10s=24h0m0s]",
                "Invalid Behavior setting 'x'",
                "Missing check 'none' registration",
                "Must provide node",
                "Bad node ID: uuid string is wrong length",
                "rpc error making call: rpc: can't find method Txn.Read"
            })
    void whatLastsIsAskedOnce(String said) {
        assertThat(answer(500, said).passes()).isFalse();
    }

    @Test
    void aCheckThatIsNotThereFailsAtOnceWithTheReason() {
        ConsulLockBackend backend =
                opened(ConsulLockBackend.connect(server.uri(), Consuls.patient().withChecks("none")));

        assertThat(Consuls.error(backend.claim(claim())))
                .hasMessageContaining("refused or failed (500: Missing check 'none' registration)");
        assertThat(Consuls.error(client(backend).acquire(key))).isInstanceOf(LockUnavailableException.class);
    }
}
