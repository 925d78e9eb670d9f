package io.github.reactivelock.etcd;

import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.TxnRequest;
import io.etcd.jetcd.api.WatchRequest;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ForwardingClientCall.SimpleForwardingClientCall;
import io.grpc.ForwardingClientCallListener.SimpleForwardingClientCallListener;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.nio.charset.StandardCharsets;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Holds up what a client sends or receives until it is let go: watches on claims, puts, deletions, and the answers to
 * puts and looks.
 */
final class HeldUp implements ClientInterceptor {

    /** The names of claims or locks on which a watch was to begin. */
    final Queue<String> watched = new ConcurrentLinkedQueue<>();

    /** How many reads of a key or a queue were answered. */
    final AtomicInteger reads = new AtomicInteger();

    /** How many changes of claims read a queue, or its end, in the same step. */
    final AtomicInteger linesInChanges = new AtomicInteger();

    private final AtomicInteger looksUnanswered = new AtomicInteger();
    private final AtomicInteger mostLooksUnanswered = new AtomicInteger();
    private final Queue<Runnable> waiting = new ConcurrentLinkedQueue<>();
    private final Queue<Runnable> kept = new ConcurrentLinkedQueue<>();
    private boolean isOpen;
    volatile boolean watches;
    volatile boolean puts;
    volatile boolean looks;
    volatile boolean deletions;
    /** Of claims, before they leave. */
    volatile boolean unsentPuts;

    /**
     * From now on all goes through, and first what was held up. No step runs under a lock, because an answer may send
     * the next command, of another client too.
     */
    void letGo() {
        for (Runnable next = nextOrOpen(); next != null; next = nextOrOpen()) {
            next.run();
        }
    }

    private synchronized @Nullable Runnable nextOrOpen() {
        Runnable next = waiting.poll();
        isOpen = next == null;
        return next;
    }

    /** Sends the puts and deletions that were held up, apart from all else. */
    void letUnsentGo() {
        unsentPuts = false;
        for (Runnable next = kept.poll(); next != null; next = kept.poll()) {
            next.run();
        }
    }

    /** How many puts and deletions are held up. */
    int unsent() {
        return kept.size() / 2;
    }

    private void keep(boolean isKept, Runnable step) {
        if (isKept) {
            kept.add(step);
        } else {
            step.run();
        }
    }

    int count() {
        return waiting.size();
    }

    /** How many reads of a queue were unanswered at a time. */
    int mostLooksUnanswered() {
        return mostLooksUnanswered.get();
    }

    @Override
    public <Q, A> ClientCall<Q, A> interceptCall(MethodDescriptor<Q, A> method, CallOptions options, Channel channel) {
        return new SimpleForwardingClientCall<>(channel.newCall(method, options)) {
            private volatile boolean late;
            private volatile boolean isKept;
            /** And not a question whether the connection is alive. */
            private volatile boolean isLook;

            private volatile boolean isOfALine;

            @Override
            public void start(Listener<A> listener, Metadata headers) {
                super.start(
                        new SimpleForwardingClientCallListener<>(listener) {
                            @Override
                            public void onMessage(A message) {
                                pass(late, () -> super.onMessage(message));
                            }

                            @Override
                            public void onClose(Status status, Metadata trailers) {
                                pass(late, () -> super.onClose(status, trailers));
                                if (isLook) {
                                    int unused = reads.incrementAndGet();
                                }
                                if (isOfALine) {
                                    int unused = looksUnanswered.decrementAndGet();
                                }
                            }
                        },
                        headers);
            }

            @Override
            public void sendMessage(Q message) {
                isLook = message instanceof RangeRequest request && !request.getSerializable();
                isOfALine = isLook && message instanceof RangeRequest request && isSorted(request);
                if (isOfALine) {
                    int unused = mostLooksUnanswered.accumulateAndGet(looksUnanswered.incrementAndGet(), Math::max);
                }
                if (message instanceof TxnRequest request
                        && request.getSuccessList().stream().anyMatch(step -> isSorted(step.getRequestRange()))) {
                    int unused = linesInChanges.incrementAndGet();
                }
                late = (puts && message instanceof TxnRequest) || (looks && isLook);
                isKept = (deletions && isDeletion(message)) || (unsentPuts && isPut(message));
                keep(isKept, () -> pass(isOfClaims(message), () -> super.sendMessage(message)));
            }

            @Override
            public void halfClose() {
                keep(isKept, super::halfClose);
            }

            private boolean isSorted(RangeRequest request) {
                return request.getSortOrder() != RangeRequest.SortOrder.NONE;
            }

            private boolean isDeletion(Q message) {
                return message instanceof TxnRequest request
                        && request.getSuccessList().stream().anyMatch(RequestOp::hasRequestDeleteRange);
            }

            private boolean isPut(Q message) {
                return message instanceof TxnRequest request
                        && request.getCompareCount() > 0
                        && request.getSuccessList().stream().anyMatch(RequestOp::hasRequestPut);
            }

            private boolean isOfClaims(Q message) {
                if (!(message instanceof WatchRequest request) || !request.hasCreateRequest()) {
                    return false;
                }
                String name = request.getCreateRequest().getKey().toString(StandardCharsets.UTF_8);
                if (name.contains("/!")) {
                    return false;
                }
                watched.add(name);
                return watches;
            }
        };
    }

    private void pass(boolean isHeldUp, Runnable step) {
        if (!isHeldUp || !keepsUp(step)) {
            step.run();
        }
    }

    private synchronized boolean keepsUp(Runnable step) {
        return !isOpen && waiting.add(step);
    }
}
