package io.github.reactivelock.etcd;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.ClientBuilder;
import io.etcd.jetcd.api.AuthGrpc;
import io.etcd.jetcd.api.AuthenticateRequest;
import io.etcd.jetcd.api.AuthenticateResponse;
import io.grpc.CallCredentials;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientInterceptor;
import io.grpc.ClientInterceptors;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.MetadataUtils;
import io.grpc.stub.StreamObserver;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The logins of a client with a user, in place of jetcd's own, which are one for each call without a token: each costs
 * etcd a bcrypt, and many at once take it down. Here there is one at a time, with a time of its own, and before the end
 * of a token whose end can be read. After a refusal the next one comes after ever longer pauses. Safe for use from any
 * thread.
 */
final class Logins {

    private static final Metadata.Key<String> TOKEN = Metadata.Key.of("token", Metadata.ASCII_STRING_MARSHALLER);
    private static final Duration LONGEST_LOGIN = Duration.ofSeconds(10);
    private static final Duration PAUSE_AFTER_A_BREAK = Duration.ofMillis(100);
    private static final Duration FIRST_PAUSE = Duration.ofSeconds(1);
    private static final Duration LONGEST_PAUSE = Duration.ofMinutes(2);
    private static final Pattern END_OF_A_JWT = Pattern.compile("\"exp\"\\s*:\\s*(\\d+)");

    /** When a new one is to be fetched, by the monotonic clock; never if its end is not known. */
    private record Token(String text, boolean ends, long renewAt) {

        static Token of(String text) {
            long now = System.nanoTime();
            long left = TimeUnit.SECONDS.toNanos(secondsLeft(text));
            return new Token(text, left > 0, now + left / 3 * 2);
        }

        /** Zero if that cannot be read. */
        private static long secondsLeft(String text) {
            String[] parts = text.split("\\.", -1);
            if (parts.length != 3) {
                return 0;
            }
            try {
                Matcher end = END_OF_A_JWT.matcher(
                        new String(Base64.getUrlDecoder().decode(parts[1]), StandardCharsets.UTF_8));
                return end.find()
                        ? Long.parseLong(end.group(1)) - TimeUnit.MILLISECONDS.toSeconds(System.currentTimeMillis())
                        : 0;
            } catch (IllegalArgumentException e) { // no JWT
                return 0;
            }
        }

        boolean isToBeRenewed() {
            return ends && System.nanoTime() - renewAt >= 0;
        }
    }

    /** A login that failed, and until when it counts as the answer to all that is asked. */
    private record Failed(Throwable error, Duration pause, long until) {}

    private final AuthenticateRequest request;
    private final List<ClientInterceptor> interceptors;
    private @Nullable Token token;
    private @Nullable CompletableFuture<Token> underWay;
    private @Nullable Failed failed;

    private Logins(AuthenticateRequest request, List<ClientInterceptor> interceptors) {
        this.request = request;
        this.interceptors = interceptors;
    }

    /** Those that a builder asks for; null if it has no user. */
    static @Nullable Logins of(ClientBuilder users) {
        if (users.user() == null || users.password() == null) {
            return null;
        }
        List<ClientInterceptor> interceptors = new ArrayList<>();
        Map<Metadata.Key<?>, Object> headers = users.authHeaders();
        if (headers != null) {
            interceptors.add(MetadataUtils.newAttachHeadersInterceptor(metadata(headers)));
        }
        if (users.authInterceptors() != null) {
            interceptors.addAll(users.authInterceptors());
        }
        return new Logins(
                AuthenticateRequest.newBuilder()
                        .setNameBytes(ByteString.copyFrom(users.user().getBytes()))
                        .setPasswordBytes(ByteString.copyFrom(users.password().getBytes()))
                        .build(),
                interceptors);
    }

    @SuppressWarnings("unchecked")
    private static Metadata metadata(Map<Metadata.Key<?>, Object> headers) {
        Metadata metadata = new Metadata();
        headers.forEach((key, value) -> metadata.put((Metadata.Key<Object>) key, value));
        return metadata;
    }

    /** For one call, which has to tell how it ended. */
    OfACall ofACall(Channel channel) {
        return new OfACall(channel);
    }

    /** The token of one call. */
    final class OfACall extends CallCredentials {

        private final Channel channel;
        private volatile @Nullable Token used;

        private OfACall(Channel channel) {
            this.channel = channel;
        }

        @Override
        public void applyRequestMetadata(RequestInfo info, Executor executor, MetadataApplier applier) {
            CompletableFuture<Void> unused = valid(channel).handle((valid, error) -> {
                if (valid != null) {
                    used = valid;
                    Metadata headers = new Metadata();
                    headers.put(TOKEN, valid.text);
                    applier.apply(headers);
                } else {
                    applier.fail(Status.UNAUTHENTICATED.withCause(error));
                }
                return null;
            });
        }

        /** The server may have said that it does not know the token any more. */
        void ended(Status status) {
            Token mine = used;
            String said = status.getDescription();
            if (mine != null && said != null && EtcdFailure.isOfAnOldLogin(said)) {
                forget(mine);
            }
        }
    }

    private synchronized void forget(Token old) {
        if (old.equals(token)) {
            token = null;
        }
    }

    /** A token that is still good is used while the next one is on its way. */
    private CompletableFuture<Token> valid(Channel channel) {
        CompletableFuture<Token> fresh = new CompletableFuture<>();
        Token present;
        synchronized (this) {
            present = token;
            if (present != null && !present.isToBeRenewed()) {
                return CompletableFuture.completedFuture(present);
            }
            CompletableFuture<Token> running = underWay;
            Failed last = failed;
            if (running != null) {
                return present == null ? running : CompletableFuture.completedFuture(present);
            }
            if (last != null && System.nanoTime() - last.until < 0) {
                return present == null
                        ? CompletableFuture.failedFuture(last.error)
                        : CompletableFuture.completedFuture(present);
            }
            underWay = fresh;
        }
        begin(channel, fresh);
        return present == null ? fresh : CompletableFuture.completedFuture(present);
    }

    private void begin(Channel channel, CompletableFuture<Token> login) {
        ClientCalls.asyncUnaryCall(
                ClientInterceptors.intercept(channel, interceptors)
                        .newCall(
                                AuthGrpc.getAuthenticateMethod(),
                                CallOptions.DEFAULT
                                        .withExecutor(Runnable::run)
                                        .withDeadlineAfter(LONGEST_LOGIN.toNanos(), TimeUnit.NANOSECONDS)),
                request,
                new StreamObserver<AuthenticateResponse>() {
                    @Override
                    public void onNext(AuthenticateResponse answer) {
                        succeeded(login, Token.of(answer.getToken()));
                    }

                    @Override
                    public void onError(Throwable error) {
                        failed(login, error);
                    }

                    @Override
                    public void onCompleted() {
                        failed(
                                login,
                                Status.INTERNAL.withDescription("no token").asRuntimeException());
                    }
                });
    }

    private void succeeded(CompletableFuture<Token> login, Token fresh) {
        synchronized (this) {
            token = fresh;
            failed = null;
            underWay = null;
        }
        login.complete(fresh);
    }

    private void failed(CompletableFuture<Token> login, Throwable error) {
        synchronized (this) {
            if (login.isDone()) {
                return;
            }
            Duration pause = isAnswer(error) ? longer() : PAUSE_AFTER_A_BREAK;
            failed = new Failed(error, pause, System.nanoTime() + pause.toNanos());
            underWay = null;
        }
        login.completeExceptionally(error);
    }

    private Duration longer() {
        Duration before = failed == null ? Duration.ZERO : failed.pause;
        Duration doubled = before.multipliedBy(2);
        return doubled.compareTo(FIRST_PAUSE) < 0
                ? FIRST_PAUSE
                : doubled.compareTo(LONGEST_PAUSE) < 0 ? doubled : LONGEST_PAUSE;
    }

    /** The server has refused, and would refuse again. */
    private static boolean isAnswer(Throwable error) {
        return switch (Status.fromThrowable(error).getCode()) {
            case INVALID_ARGUMENT, FAILED_PRECONDITION, PERMISSION_DENIED, UNAUTHENTICATED, NOT_FOUND, UNKNOWN -> true;
            default -> false;
        };
    }
}
