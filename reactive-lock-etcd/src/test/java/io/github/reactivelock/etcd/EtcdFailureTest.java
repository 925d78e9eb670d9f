package io.github.reactivelock.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import io.etcd.jetcd.common.exception.EtcdExceptionFactory;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.net.ConnectException;
import java.nio.channels.ClosedChannelException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class EtcdFailureTest {

    @Test
    void aConnectionThatIsCutUnderACommandIsNamedAndTheCommandRepeated() {
        StatusRuntimeException cut = Status.UNKNOWN
                .withDescription("channel closed")
                .withCause(new ClosedChannelException())
                .asRuntimeException();
        for (Throwable error : new Throwable[] {cut, EtcdExceptionFactory.toEtcdException(cut)}) {
            EtcdFailure failure = EtcdFailure.explain("127.0.0.1:2379", "locks", error);

            assertThat(failure.isTransient()).isTrue();
            assertThat(failure.isUnreachable()).isTrue();
            assertThat(failure).hasMessageContaining("127.0.0.1:2379 cannot be reached");
        }
    }

    @ParameterizedTest
    @CsvSource({
        "UNAVAILABLE, etcdserver: no leader, has no leader",
        "FAILED_PRECONDITION, etcdserver: not leader, has no leader",
        "UNAVAILABLE, etcdserver: leader changed, has no leader",
        "UNAVAILABLE, etcdserver: request timed out, has no leader",
        "'UNAVAILABLE', 'etcdserver: request timed out, possibly due to previous leader failure', has no leader",
        "UNAVAILABLE, etcdserver: unhealthy cluster, has no leader",
        "UNAVAILABLE, etcdserver: server stopped, is being stopped",
        "RESOURCE_EXHAUSTED, etcdserver: too many requests, has too many requests",
        "UNAUTHENTICATED, etcdserver: invalid auth token, no longer knows the login",
        "INVALID_ARGUMENT, etcdserver: revision of auth store is old, no longer knows the login",
        "UNAVAILABLE, etcdserver: rpc not supported for learner, has a learner among the addresses",
        "FAILED_PRECONDITION, etcdserver: rpc not supported for learner, has a learner among the addresses",
        "OUT_OF_RANGE, etcdserver: mvcc: required revision has been compacted, was compacted",
        "UNKNOWN, context deadline exceeded, did not answer in time",
    })
    void whatPassesIsRepeatedAndNamed(Status.Code code, String said, String advice) {
        assertThat(failure(code, said).isTransient()).isTrue();
        assertThat(failure(code, said)).hasMessageContaining(advice).hasMessageContaining(said);
    }

    @ParameterizedTest
    @CsvSource({
        "RESOURCE_EXHAUSTED, etcdserver: mvcc: database space exceeded, out of space",
        "PERMISSION_DENIED, etcdserver: permission denied, --prefix=true locks/",
        "'INVALID_ARGUMENT', 'etcdserver: authentication failed, invalid user ID or password', refuses the user",
        "INVALID_ARGUMENT, etcdserver: user name is empty, asks for a user",
        "FAILED_PRECONDITION, etcdserver: authentication is not enabled, has no authentication enabled",
        "INVALID_ARGUMENT, etcdserver: request is too large, raise --max-request-bytes",
    })
    void whatLastsIsNotRepeatedAndNamed(Status.Code code, String said, String advice) {
        assertThat(failure(code, said).isTransient()).isFalse();
        assertThat(failure(code, said)).hasMessageContaining(advice).hasMessageContaining(said);
    }

    @ParameterizedTest
    @CsvSource({
        "UNAVAILABLE, etcdserver: no leader",
        "FAILED_PRECONDITION, etcdserver: not leader",
        "RESOURCE_EXHAUSTED, etcdserver: too many requests",
        "UNAUTHENTICATED, etcdserver: invalid auth token",
        "INVALID_ARGUMENT, etcdserver: revision of auth store is old",
        "FAILED_PRECONDITION, etcdserver: rpc not supported for learner",
        "RESOURCE_EXHAUSTED, etcdserver: mvcc: database space exceeded",
    })
    void whatWasRefusedWasNotCarriedOut(Status.Code code, String said) {
        assertThat(failure(code, said).mayHaveBeenCarriedOut()).isFalse();
    }

    @ParameterizedTest
    @CsvSource({
        "UNAVAILABLE, etcdserver: leader changed",
        "UNAVAILABLE, etcdserver: request timed out",
        "UNAVAILABLE, etcdserver: server stopped",
        "UNKNOWN, context deadline exceeded",
        "DEADLINE_EXCEEDED, deadline exceeded after 1s",
        "UNAVAILABLE, Connection reset by peer",
    })
    void whatWasNotAnsweredMayHaveBeenCarriedOut(Status.Code code, String said) {
        assertThat(failure(code, said).mayHaveBeenCarriedOut()).isTrue();
    }

    @Test
    void whatFoundNoListenerWasNotCarriedOut() {
        StatusRuntimeException refused = Status.UNAVAILABLE
                .withDescription("io exception")
                .withCause(new ConnectException("Connection refused"))
                .asRuntimeException();

        assertThat(EtcdFailure.explain("127.0.0.1:2379", "locks", refused).mayHaveBeenCarriedOut())
                .isFalse();
    }

    private static EtcdFailure failure(Status.Code code, String said) {
        return EtcdFailure.explain(
                "127.0.0.1:2379",
                "locks",
                EtcdExceptionFactory.toEtcdException(
                        code.toStatus().withDescription(said).asRuntimeException()));
    }

    @Test
    void whatTheServerRefusesIsNotRepeated() {
        StatusRuntimeException refused =
                Status.UNKNOWN.withDescription("etcdserver: something new").asRuntimeException();

        EtcdFailure failure = EtcdFailure.explain("127.0.0.1:2379", "locks", refused);

        assertThat(failure.isTransient()).isFalse();
        assertThat(failure).hasMessageContaining("refused or failed");
    }
}
