package io.github.reactivelock.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import io.etcd.jetcd.Client;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.TxnRequest;
import io.github.reactivelock.spi.Claim;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ForwardingClientCall.SimpleForwardingClientCall;
import io.grpc.ForwardingClientCallListener.SimpleForwardingClientCallListener;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A forced release whose first attempt failed, and what its caller is told. */
class ForcedReleaseTest extends EtcdFixture {

    private EtcdLockBackend operator(ClientInterceptor between) {
        EtcdLockBackend operator = opened(
                EtcdLockBackend.connect(Client.builder().endpoints(server.uri()).interceptor(between), PATIENT));
        assertThat(Etcds.get(operator.ready().thenReturn(true))).isTrue();
        return operator;
    }

    @Test
    void whetherOneWhoseAnswerWasLostRemovedItIsNotKnown() {
        FirstDeletion lost = new FirstDeletion(Status.UNAVAILABLE.withDescription("Connection reset by peer"), true);
        EtcdLockBackend operator = operator(lost);
        EtcdLockBackend holder = backend();
        Claim held = claim();
        long token = granted(Etcds.get(holder.claim(held)));

        CompletableFuture<Boolean> ended = operator.forceRelease(key, token).toFuture();
        Etcds.until("it is carried out", () -> Etcds.claims(etcd).isEmpty() && lost.isAnswered());
        lost.tell();

        assertThat(ended)
                .failsWithin(Etcds.LIMIT)
                .withThrowableThat()
                .withMessageContaining("it is not known whether '" + key + "' was still held");
        assertThat(Etcds.get(holder.release(held))).isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = {"etcdserver: no leader", "etcdserver: too many requests"})
    void oneThatWasRefusedAtFirstRemovedNothingThatItsHolderReleased(String refusal) {
        FirstDeletion refused = new FirstDeletion(Status.UNAVAILABLE.withDescription(refusal), false);
        EtcdLockBackend operator = operator(refused);
        EtcdLockBackend holder = backend();
        Claim held = claim();
        long token = granted(Etcds.get(holder.claim(held)));

        CompletableFuture<Boolean> ended = operator.forceRelease(key, token).toFuture();
        Etcds.until("it is refused", refused::isAnswered);
        assertThat(Etcds.get(holder.release(held))).isTrue();
        refused.tell();

        assertThat(Etcds.get(ended)).isFalse();
    }

    /** The first deletion of a client is answered by a status, when it is told; it may be carried out later. */
    private static final class FirstDeletion implements ClientInterceptor {

        private final Status status;
        private final boolean isCarriedOut;
        private final AtomicBoolean came = new AtomicBoolean();
        private final AtomicReference<@Nullable Runnable> telling = new AtomicReference<>();

        FirstDeletion(Status status, boolean isCarriedOut) {
            this.status = status;
            this.isCarriedOut = isCarriedOut;
        }

        boolean isAnswered() {
            return telling.get() != null;
        }

        void tell() {
            Runnable answer = telling.get();
            assertThat(answer).isNotNull();
            answer.run();
        }

        @Override
        public <Q, A> ClientCall<Q, A> interceptCall(
                MethodDescriptor<Q, A> method, CallOptions options, Channel channel) {
            return new SimpleForwardingClientCall<>(channel.newCall(method, options)) {
                private volatile boolean fails;

                @Override
                public void start(Listener<A> listener, Metadata headers) {
                    super.start(
                            new SimpleForwardingClientCallListener<>(listener) {
                                @Override
                                public void onMessage(A message) {
                                    if (!fails) {
                                        super.onMessage(message);
                                    }
                                }

                                @Override
                                public void onClose(Status answer, Metadata trailers) {
                                    if (fails) {
                                        telling.set(() -> super.onClose(status, new Metadata()));
                                    } else {
                                        super.onClose(answer, trailers);
                                    }
                                }
                            },
                            headers);
                }

                @Override
                public void sendMessage(Q message) {
                    fails = isDeletion(message) && came.compareAndSet(false, true);
                    if (fails && !isCarriedOut) {
                        super.cancel("it never leaves", null);
                    } else {
                        super.sendMessage(message);
                    }
                }

                @Override
                public void halfClose() {
                    if (!fails || isCarriedOut) {
                        super.halfClose();
                    }
                }
            };
        }

        private static boolean isDeletion(Object message) {
            return message instanceof TxnRequest request
                    && request.getSuccessList().stream().anyMatch(RequestOp::hasRequestDeleteRange);
        }
    }
}
