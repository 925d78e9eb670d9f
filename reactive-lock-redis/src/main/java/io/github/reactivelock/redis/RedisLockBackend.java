package io.github.reactivelock.redis;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.FencingTokens;
import io.github.reactivelock.spi.LockPage;
import io.github.reactivelock.spi.QuorumNode;
import io.github.reactivelock.spi.RenewalResult;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.spi.Vote;
import io.github.reactivelock.spi.support.DriverThreads;
import io.github.reactivelock.spi.support.LateId;
import io.github.reactivelock.spi.support.SilenceClock;
import io.github.reactivelock.state.LockEvent;
import io.github.reactivelock.state.LockInfo;
import io.github.reactivelock.state.Share;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/**
 * Locks in Redis 6.2 or later, or Valkey, over any {@link RedisConnection}. A module that brings a client library
 * extends this class.
 *
 * <ol>
 *   <li><b>Names.</b> A lock lives in four keys that share a cluster slot: {@code {prefix:KEY}}, or
 *       {@code prefix:{KEY}} if the prefix has a colon, holds the owner and expires with its lease; {@code :queue}
 *       (order of arrival) and {@code :waiters} hold the waiting claims and expire with the last of them;
 *       {@code :token} holds the last fencing token and, while a client watches, the channel for changes. It expires
 *       ten minutes after the last grant, or after the clock has come to a token that is ahead of it. Nothing is
 *       without an expiry. The first and the last have a plus sign while there may be a queue or a watcher, so that a
 *       claim and a release that find none look at nothing else.
 *   <li><b>Claim.</b> One script call, which a connection may join with others ({@link RedisBatch}). The owner's own
 *       claim starts its lease anew and is answered with its old token. A free lock goes to the first live waiter, or
 *       if there is none to the claim. Otherwise a claim that waits is queued, keeping its place if it has one, and is
 *       answered with what is left of the lease and the last token.
 *   <li><b>Shares.</b> A share that finds the lock free takes it as a whole claim does, until another call has to do
 *       with it. Then the owner's key says how many units are in use, so that a claim for the whole finds it taken and
 *       does nothing else. Those that share stand in {@code :queue} with the end of their lease as a negative score.
 *       The first that waits is granted as soon as it fits, and those behind it, up to a hundred a call.
 *   <li><b>Token.</b> {@code max(last + 1, microseconds since 2020 by the server's clock)}, so that it rises even when
 *       the last one was lost. In a quorum a claim proposes one, which is given if it is higher, and at most a tenth of
 *       a second ahead of the server's clock; an owner that asks again gets it instead of its own.
 *   <li><b>Release.</b> One script call. The owner's key is deleted first. Then the first waiter whose client asked
 *       within its lease, and can be reached, becomes the owner with its own lease and the next token, and the grant is
 *       published on the channel of its client. A claim that is not the owner leaves the queue.
 *   <li><b>Absent waiters.</b> A client whose channel was confirmed marks its claims ({@code await}), unless it is one
 *       of a cluster that listens by way of other nodes. If that channel has no subscriber now, its process has ended
 *       or is reconnecting: its claims keep their places and are passed over. If no waiter can be reached, the lock is
 *       free and goes to the first claim that asks, as each does on {@link Signal.Reconnected}. A grant is never sent
 *       to an absent client. One that asks, believing that its channel has a subscriber, is answered that it has none,
 *       and opens the channel anew.
 *   <li><b>Kept.</b> A lock or a share that outlasts its hold gets another claim, with a lease of its own and the same
 *       token.
 *   <li><b>Renewal.</b> Up to 500 claims of one slot a script call, each answered for itself.
 *   <li><b>Signals.</b> One channel for every backend instance. A message is at most a hint; one that is not understood
 *       is dropped. A confirmed subscription is {@link Signal.Reconnected}. With {@link
 *       RedisBackendOptions#withShardedChannels}, one channel for every lock that is waited for, in the lock's slot.
 *   <li><b>Recalls.</b> A claim that can be called back has a mark behind its name, which the owner's key keeps.
 *       One that is queued behind such an owner, or asks again, publishes a recall on the owner's channel in the same
 *       call. A try does so too if none waits, and is queued then. Not with sharded channels, which belong to waiting
 *       claims.
 *   <li><b>Replicas.</b> With {@link RedisBackendOptions#withReplicas}, a claim that was granted is renewed once more
 *       and that renewal acknowledged by {@code WAIT} before the answer counts; so is every later renewal.
 *   <li><b>Events.</b> Scripts publish changes only while {@code :token} names a channel. A watcher subscribes, names
 *       it for a minute and takes its snapshot in one step, and does so again in time; a missing name means a new
 *       snapshot.
 * </ol>
 *
 * <p>Guarantees. <b>Mutual exclusion</b> holds on one Redis that keeps its data: a crash costs what its persistence
 * loses, and a fail-over what was not yet replicated. The server must not evict keys that have an expiry. <b>Fencing
 * tokens</b> rise strictly; they could only fall if the counter were lost, or expired, and the clock were then set back
 * to before the last grant. <b>Order</b> is that of arrival, among clients that stay alive. All times are the
 * <b>server's clock</b>; if it jumps ahead, leases end early.
 */
public abstract class RedisLockBackend implements QuorumNode {

    private static final Duration MARK_RENEWAL = Duration.ofSeconds(20);

    private final RedisConnection connection;
    private final KeyLayout names;
    private final String prefix;
    private final ScriptCalls calls;
    private final LateId client = new LateId();
    private final LateId grants;
    private final RedisChannels channels;
    private final Eviction eviction = new Eviction();
    private final Renewal renewals;
    private final RedisListing listing;
    private final @Nullable RedisReplicas replicas;
    private final @Nullable ShardGrants shards;
    private final Scheduler timer;
    private volatile boolean heard;

    /**
     * A backend over a connection, which it closes with itself.
     *
     * @param connection the connection; nothing is opened yet
     * @param options how locks are laid out
     */
    protected RedisLockBackend(RedisConnection connection, RedisBackendOptions options) {
        this(connection, options, DriverThreads.timer());
    }

    RedisLockBackend(RedisConnection connection, RedisBackendOptions options, Scheduler timer) {
        this.timer = timer;
        this.connection = Objects.requireNonNull(connection, "connection");
        this.prefix = options.prefix();
        this.names = options.hasShardedChannels()
                ? KeyLayout.ofShards(prefix)
                : new KeyLayout(prefix, connection.database());
        this.calls = new ScriptCalls(connection, names, prefix);
        this.grants = new LateId(() -> names.grants(client.get()));
        this.channels = new RedisChannels(
                connection,
                NeededCommands.channel(options),
                (channel, error) -> channel.isEmpty()
                        ? RedisFailure.explain(connection, prefix, error)
                        : RedisFailure.channel(connection, prefix, channel, error));
        if (options.replicas() > 0 && !connection.waitsForReplicas()) {
            throw new IllegalArgumentException(
                    "replicas cannot be waited for on " + connection.server()
                            + ": leave RedisBackendOptions.withReplicas out, or connect through Lettuce to a server that is no cluster");
        }
        if (options.hasShardedChannels() && !connection.hasShardedChannels()) {
            throw new IllegalArgumentException("there are no sharded channels on " + connection.server()
                    + ": leave RedisBackendOptions.withShardedChannels out, or connect through Lettuce to a cluster");
        }
        this.shards = options.hasShardedChannels() ? new ShardGrants(channels, names, client) : null;
        RenewalCalls asked = new RenewalCalls(connection, names, calls, options);
        this.replicas = options.replicas() == 0
                ? null
                : new RedisReplicas(
                        asked::renew, connection::server, options.replicaTimeout(), SilenceClock.ofThisProcess());
        this.renewals = new Renewal(
                connection, names, SilenceClock.ofThisProcess(), replicas == null ? asked::renew : replicas::renew);
        this.listing = new RedisListing(connection, names, this::inspect);
        connection.listen(channels);
    }

    @Override
    public final boolean isReady() {
        return connection.isReady();
    }

    @Override
    public final Mono<Void> ready() {
        return connection.ready().onErrorMap(error -> RedisFailure.explain(connection, prefix, error));
    }

    /** Where locks are listed, of the servers that were asked last and have not answered. */
    @Override
    public final String whySilent() {
        List<String> asked = listing.unanswered();
        return asked.isEmpty()
                ? whySilent(connection.server(), calls.passing())
                : whySilent(String.join(" and at ", asked), "");
    }

    @Override
    public final String whySilent(String key) {
        String server = connection.server(names.owner(key));
        return whySilent(server, calls.passing(server));
    }

    private String whySilent(String server, String passing) {
        String said = connection.isReady() ? passing : channels.refusal();
        return said.isEmpty() ? "look whether Redis at " + server + " is up and reachable" : said;
    }

    @Override
    public final boolean supports(Share share) {
        return true;
    }

    /** Not with {@link RedisBackendOptions#withShardedChannels}: an owner listens to none. */
    @Override
    public final boolean supportsRecall() {
        return shards == null;
    }

    /** Not while the connection for channels is gone, though that for commands may be there. */
    @Override
    public final boolean hearsRecalls() {
        return supportsRecall() && channels.isHeard(grants.get());
    }

    @Override
    public final Mono<Void> recall(String key) {
        return calls.run(key, "recall").then();
    }

    @Override
    public final Mono<ClaimResult> claim(Claim claim) {
        String verb = claim.mode() == Claim.Mode.TRY ? "try" : isHeard(claim.key()) ? "await" : "claim";
        Share share = claim.share();
        Mono<List<Object>> reply = share.isWhole()
                ? calls.run(claim.key(), verb, who(claim), ScriptCalls.millis(claim))
                : calls.run(
                        claim.key(),
                        "share",
                        who(claim),
                        ScriptCalls.millis(claim),
                        verb,
                        ScriptCalls.units(share),
                        ScriptCalls.capacity(share));
        Mono<ClaimResult> answer = Mono.defer(() -> {
            String channel = shards == null ? grants.get() : shards.channel(claim.key());
            int confirmations = channels.confirmations(channel);
            return calls.decided(reply).map(said -> {
                if (RedisReplies.isDeaf(said)) {
                    channels.deaf(channel, confirmations);
                }
                return RedisReplies.claim(claim, said);
            });
        });
        if (shards != null) {
            return shards.asked(claim, answer);
        }
        return replicas == null ? answer : replicas.asked(claim, answer);
    }

    @Override
    public final Mono<Vote> vote(Claim claim, long ticket, long proposal, Duration longestLease) {
        String mode = claim.mode().name();
        String place = Long.toString(ticket);
        Share share = claim.share();
        Mono<List<Object>> reply = calls.run(
                claim.key(),
                "vote",
                who(claim),
                ScriptCalls.millis(claim),
                mode,
                place,
                ScriptCalls.units(share),
                ScriptCalls.capacity(share),
                counted(proposal),
                Long.toString(longestLease.toMillis()));
        return calls.decided(reply).map(said -> RedisReplies.vote(claim, said));
    }

    @Override
    public final Mono<Boolean> raise(Claim claim, long fencingToken, long votesNumber) {
        return calls.run(claim.key(), "raise", claim.id(), counted(fencingToken), counted(votesNumber))
                .map(RedisReplies::flag);
    }

    @Override
    public final Mono<Boolean> release(Claim claim) {
        forget(claim);
        return calls.run(claim.key(), "release", claim.id()).map(RedisReplies::flag);
    }

    @Override
    public final Mono<Boolean> keep(Claim held, Claim kept) {
        forget(held);
        Mono<Boolean> answer = calls.run(held.key(), "keep", held.id(), kept.id(), ScriptCalls.millis(kept))
                .map(RedisReplies::flag);
        return replicas == null ? answer : replicas.kept(kept, answer);
    }

    private void forget(Claim claim) {
        if (replicas != null) {
            replicas.forget(claim);
        }
        if (shards != null) {
            shards.released(claim);
        }
    }

    @Override
    public final Mono<Boolean> forceRelease(String key, long fencingToken) {
        return calls.run(key, "force", counted(fencingToken)).map(RedisReplies::flag);
    }

    @Override
    public final Mono<LockInfo> inspect(String key) {
        return calls.run(key, "inspect").map(reply -> RedisReplies.info(key, reply));
    }

    /**
     * By a write that changes nothing, so it is refused as a claim would be: by a replica, a server that has too few of
     * them, no memory or no disk. With {@link RedisBackendOptions#withReplicas}, which have to acknowledge it too.
     */
    @Override
    public final Mono<Void> probe(String key) {
        Mono<Void> written = calls.run(key, "probe").then();
        return replicas == null ? written : written.then(replicas.probe(key));
    }

    /** By {@code SCAN} on every primary, a thousand keys at a time. A slot that moves meanwhile may be missing. */
    @Override
    public final Mono<LockPage> list(String prefix, String from) {
        return listing.part(prefix, from).onErrorMap(error -> RedisFailure.explain(connection, this.prefix, error));
    }

    @Override
    public final Mono<RenewalResult> renew(List<Claim> held) {
        return renewals.renew(held);
    }

    @Override
    public final Flux<Signal> signals() {
        Flux<Signal> signals = channels.listen(grants.get())
                .mapNotNull(push -> push.isMessage() ? RedisReplies.signal(names, push.text()) : confirmed());
        if (shards != null) {
            return signals.mergeWith(shards.signals());
        }
        return replicas == null ? signals : signals.concatMap(replicas::unconfirmed);
    }

    /** Whether the server knows of a subscriber where a grant of the key is pushed to. */
    private boolean isHeard(String key) {
        return shards == null ? heard : shards.isHeard(key);
    }

    private Signal confirmed() {
        heard = connection.knowsListeners();
        eviction.look(calls.memory(client.get()), connection.server());
        return new Signal.Reconnected();
    }

    @Override
    public final Flux<LockEvent> events(String key) {
        Mono<List<Object>> watch = calls.run(key, "watch", names.events(key));
        Mono<LockEvent> snapshot = watch.map(reply -> snapshot(key, reply));
        // A watcher that lost the mark (a flushed server, for example) may have missed events, and only then looks
        // again.
        Flux<LockEvent> afterLoss = Flux.interval(MARK_RENEWAL, timer)
                .onBackpressureDrop()
                .concatMap(tick -> watch.onErrorComplete().filter(RedisReplies::flag))
                .map(reply -> snapshot(key, reply));
        return channels.listen(names.events(key))
                .skipUntil(push -> !push.isMessage()) // the channel of a watcher before this one may not be left yet
                .concatMap(push -> push.isMessage() ? Mono.justOrEmpty(RedisReplies.event(key, push.text())) : snapshot)
                .mergeWith(afterLoss);
    }

    /**
     * A guard for writes to the same Redis, over the connection of this backend and for as long as that is open.
     *
     * @return a guard that needs no closing
     */
    public final RedisFencingGuard fencingGuard() {
        return new RedisFencingGuard(connection, prefix);
    }

    @Override
    public final Mono<Void> close() {
        return Mono.defer(() -> {
            channels.complete();
            return connection.close();
        });
    }

    @Override
    public final String toString() {
        return "Redis at " + connection.server() + ", prefix " + prefix;
    }

    /** A claim, where its grant is pushed, and the name that people read. */
    private String who(Claim claim) {
        String name = claim.recallable() ? RedisReplies.recallable(claim.owner()) : claim.owner();
        return claim.id() + " " + grants.get() + " " + name;
    }

    private static LockEvent snapshot(String key, List<Object> reply) {
        return new LockEvent.Snapshot(RedisReplies.info(key, reply));
    }

    /** A token as the script counts them. */
    private static String counted(long fencingToken) {
        return Long.toString(FencingTokens.number(fencingToken));
    }
}
