package io.github.reactivelock.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import io.etcd.jetcd.common.exception.EtcdExceptionFactory;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.nio.channels.ClosedChannelException;
import org.junit.jupiter.api.Test;

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

    @Test
    void whatTheServerRefusesIsNotRepeated() {
        StatusRuntimeException refused =
                Status.UNKNOWN.withDescription("etcdserver: something new").asRuntimeException();

        EtcdFailure failure = EtcdFailure.explain("127.0.0.1:2379", "locks", refused);

        assertThat(failure.isTransient()).isFalse();
        assertThat(failure).hasMessageContaining("refused or failed");
    }
}
