package io.github.reactivelock.etcd;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.ClientBuilder;
import io.etcd.jetcd.api.Compare;
import io.etcd.jetcd.api.CompareOrBuilder;
import io.etcd.jetcd.api.TxnRequest;
import io.github.reactivelock.spi.support.DriverThreads;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ForwardingClientCall.SimpleForwardingClientCall;
import io.grpc.ForwardingClientCallListener.SimpleForwardingClientCallListener;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * Where the jetcd client comes from: from the user, who keeps it, or from a builder. What is built here fails instead
 * of waiting for a connection, gives every command a deadline, and notices a dead connection within 13 seconds.
 */
final class ClientSource {

    private static final String TXN = "etcdserverpb.KV/Txn";
    private static final String WATCH = "etcdserverpb.Watch/Watch";
    private static final Duration PING_AFTER = Duration.ofSeconds(10);
    private static final Duration FOR_EVER = Duration.ofMillis(Long.MAX_VALUE);
    private static final Duration PING_TIMEOUT = Duration.ofSeconds(3);

    final String server;
    final boolean isOurs;
    /** How many addresses are known, each of which has a connection; commands go over all of them by turns. */
    final int members;

    private final Supplier<Client> client;

    private ClientSource(String server, boolean isOurs, Supplier<Client> client) {
        this.server = server;
        this.isOurs = isOurs;
        this.members = server.split(",").length;
        this.client = client;
    }

    static ClientSource of(Client users) {
        return new ClientSource("the user's client", false, () -> users);
    }

    static ClientSource of(ClientBuilder users, EtcdBackendOptions options) {
        String target = users.target();
        if (target == null) {
            throw new IllegalArgumentException("the ClientBuilder has no endpoints; give it http://host:2379, say");
        }
        List<ClientInterceptor> interceptors = new ArrayList<>();
        if (users.interceptors() != null) {
            interceptors.addAll(users.interceptors());
        }
        interceptors.add(new PromptCalls(options.commandTimeout().dividedBy(2), Logins.of(users)));
        ClientBuilder ours = users.copy()
                .interceptors(interceptors)
                .waitForReady(false)
                .retryMaxAttempts(0)
                .keepaliveTime(PING_AFTER)
                .keepaliveTimeout(PING_TIMEOUT)
                .keepaliveWithoutCalls(false);
        if (ours.maxInboundMessageSize() == null) {
            // A lease with very many claims lists them all in one message.
            ours.maxInboundMessageSize(64 << 20);
        }
        if (ours.executorService() == null) {
            ours.executorService(new CallerThread());
        }
        return of(target.substring(target.lastIndexOf('/') + 1), ours::build);
    }

    /** Clients made and closed here. */
    static ClientSource of(String server, Supplier<Client> ours) {
        return new ClientSource(server, true, ours);
    }

    /**
     * A client whose parts are made and whose names are looked up, on a thread that may block: jetcd resolves them on
     * the thread of the first command.
     */
    Mono<Client> open(ByteSequence anyKey) {
        return DriverThreads.calling(() -> {
                    Client opened = client.get();
                    try {
                        opened.getLeaseClient();
                        opened.getWatchClient();
                        CompletableFuture<?> unused = opened.getKVClient().get(anyKey);
                        return opened;
                    } catch (Throwable e) { // no other reference to it exists
                        if (isOurs) {
                            opened.close();
                        }
                        throw e;
                    }
                })
                .cache(opened -> FOR_EVER, error -> Duration.ZERO, () -> Duration.ZERO, DriverThreads.timer());
    }

    Mono<Void> close(Client opened) {
        return isOurs
                ? Mono.<Void>fromRunnable(() -> DriverThreads.run(opened::close))
                        .subscribeOn(DriverThreads.mayBlock())
                : Mono.empty();
    }

    /**
     * Calls without a hop between threads, and with half the patience of a command for each attempt, so that another
     * member is asked when one does not answer.
     */
    private record PromptCalls(Duration time, @Nullable Logins logins) implements ClientInterceptor {
        @Override
        public <Q, A> ClientCall<Q, A> interceptCall(MethodDescriptor<Q, A> method, CallOptions options, Channel next) {
            // Answers are handled on the event loop: nothing here blocks, and the engine hops before it calls a user.
            CallOptions prompt = options.withExecutor(Runnable::run);
            CallOptions limited = method.getFullMethodName().equals(WATCH)
                    ? prompt
                    : prompt.withDeadlineAfter(time.toNanos(), TimeUnit.NANOSECONDS);
            ClientCall<Q, A> call =
                    logins == null ? next.newCall(method, limited) : new LoggedIn<>(method, limited, next, logins);
            return method.getFullMethodName().equals(TXN) ? new RangeCompares<>(call) : call;
        }
    }

    /** A call with a token, which is not used again if the server no longer knows it. */
    private static final class LoggedIn<Q, A> extends SimpleForwardingClientCall<Q, A> {

        private final Logins.OfACall login;

        LoggedIn(MethodDescriptor<Q, A> method, CallOptions options, Channel next, Logins logins) {
            this(method, options, next, logins.ofACall(next));
        }

        private LoggedIn(MethodDescriptor<Q, A> method, CallOptions options, Channel next, Logins.OfACall login) {
            super(next.newCall(method, options.withCallCredentials(login)));
            this.login = login;
        }

        @Override
        public void start(Listener<A> listener, Metadata headers) {
            super.start(
                    new SimpleForwardingClientCallListener<>(listener) {
                        @Override
                        public void onClose(Status status, Metadata trailers) {
                            login.ended(status);
                            super.onClose(status, trailers);
                        }
                    },
                    headers);
        }
    }

    /** Lets {@link KeyLayout#nothingSince} speak of all claims of a lock, which jetcd's compares cannot. */
    private static final class RangeCompares<Q, A> extends SimpleForwardingClientCall<Q, A> {

        RangeCompares(ClientCall<Q, A> call) {
            super(call);
        }

        @Override
        @SuppressWarnings("unchecked")
        public void sendMessage(Q message) {
            super.sendMessage(
                    message instanceof TxnRequest txn
                                    && txn.getCompareList().stream().anyMatch(RangeCompares::isOfALock)
                            ? (Q) spanning(txn)
                            : message);
        }

        private static TxnRequest spanning(TxnRequest txn) {
            TxnRequest.Builder spanning = txn.toBuilder();
            spanning.getCompareBuilderList().stream()
                    .filter(compare -> isOfALock(compare))
                    .forEach(compare -> compare.setRangeEnd(KeyLayout.endOfLock(compare.getKey())));
            return spanning.build();
        }

        private static boolean isOfALock(CompareOrBuilder compare) {
            return compare.getResult() == Compare.CompareResult.LESS
                    && compare.getTarget() == Compare.CompareTarget.CREATE
                    && KeyLayout.isOfALock(compare.getKey());
        }
    }
}
