package io.github.reactivelock.redis;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Subscription;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Flux;
import reactor.test.StepVerifier;

class RedisChannelsTest {

    private final FakeConnection connection = new FakeConnection();
    private final RedisChannels channels = new RedisChannels(connection, "check", (channel, error) -> error);

    @Test
    void aChannelIsAskedForUntilItIsConfirmedAndLeftByTheLast() {
        Disposable first = channels.listen("c").subscribe();
        Disposable second = channels.listen("c").subscribe();
        first.dispose();
        assertThat(connection.asked).containsExactly("+c", "+c");

        second.dispose();
        assertThat(connection.asked).containsExactly("+c", "+c", "-c");
    }

    @Test
    void aListenerThatJoinsAConfirmedChannelIsToldAloneAndAsksNothing() {
        List<Object> first = new ArrayList<>();
        List<Object> second = new ArrayList<>();
        Disposable listening = channels.listen("c").subscribe(first::add);
        channels.subscribed("c");

        Disposable joined = channels.listen("c").subscribe(second::add);

        assertThat(connection.asked).containsExactly("+c");
        assertThat(first).hasSize(1);
        assertThat(second).hasSize(1);
        channels.subscribed("c");
        assertThat(first).as("an interruption concerns all").hasSize(2);
        assertThat(second).hasSize(2);
        listening.dispose();
        joined.dispose();
    }

    @Test
    void everyListenerHearsItsOwnChannelOnly() {
        List<String> heard = new ArrayList<>();
        Disposable listening = channels.listen("c").subscribe(push -> heard.add(push.isMessage() + push.text()));

        channels.subscribed("c");
        channels.message("c", "x");
        channels.message("d", "y");
        channels.subscribed("d");
        listening.dispose();
        channels.message("c", "z");

        assertThat(heard).containsExactly("false", "truex");
    }

    @Test
    void aChannelThatCannotBeHadIsAnErrorAndIsForgotten() {
        StepVerifier.create(channels.listen("c"))
                .then(() -> channels.failed("c", new IllegalArgumentException("no")))
                .verifyErrorMessage("no");

        assertThat(connection.asked).containsExactly("+c", "-c");
    }

    @Test
    void aListenerThatFallsFarBehindFailsInsteadOfHoardingMessages() {
        StepVerifier.create(channels.listen("c"), 0)
                .then(() -> {
                    for (int i = 0; i < 10_000; i++) {
                        channels.message("c", "x");
                    }
                })
                .thenRequest(Long.MAX_VALUE)
                .thenConsumeWhile(push -> true)
                .verifyError();
    }

    @Test
    void whoeverListensWhileTheLastOneLeavesIsSubscribedAfterAll() {
        List<Disposable> late = new ArrayList<>();
        connection.beforeLeaving = () -> late.add(channels.listen("c").subscribe());

        channels.listen("c").subscribe().dispose();

        assertThat(connection.asked).containsExactly("+c", "+c", "-c", "+c");
        late.forEach(Disposable::dispose);
    }

    @Test
    void whoeverIsGoneBeforeItListensIsNoListener() {
        channels.listen("c").subscribe(new BaseSubscriber<>() {
            @Override
            protected void hookOnSubscribe(Subscription subscription) {
                cancel();
            }
        });
        assertThat(connection.asked.get(connection.asked.size() - 1)).isEqualTo("-c");
        connection.asked.clear();

        channels.listen("c").subscribe().dispose();

        assertThat(connection.asked).as("it was the only one").containsExactly("+c", "-c");
    }

    @Test
    void whoeverLeavesWhileItsChannelIsAskedForLeavesNoSubscription() {
        AtomicReference<Disposable> listening = new AtomicReference<>(Disposables.disposed());
        connection.beforeAsking = () -> listening.get().dispose();
        Flux<RedisChannels.Push> channel = channels.listen("c");

        Disposable unused = channel.doOnSubscribe(subscription -> listening.set(subscription::cancel))
                .subscribe();

        assertThat(connection.asked.get(connection.asked.size() - 1)).isEqualTo("-c");
    }

    @Test
    void whoeverIsSubscribedAfterAllMayLeaveMeanwhile() {
        List<Disposable> late = new ArrayList<>();
        connection.beforeLeaving = () -> {
            late.add(channels.listen("c").subscribe());
            connection.beforeAsking = () -> late.get(0).dispose();
        };

        channels.listen("c").subscribe().dispose();

        assertThat(connection.asked.get(connection.asked.size() - 1)).isEqualTo("-c");
    }

    @Test
    void aChannelFirstConfirmedAfterCommandsWentElsewhereIsConfirmedTwice() {
        List<Object> heard = new ArrayList<>();
        channels.replaced();
        Disposable listening = channels.listen("c").subscribe(heard::add);

        channels.subscribed("c");
        assertThat(heard).hasSize(2);

        channels.replaced();
        channels.subscribed("c");
        assertThat(heard).hasSize(4);
        channels.subscribed("c");
        channels.replaced();
        assertThat(heard).hasSize(5);
        listening.dispose();
    }

    /** What was kept has to be given up before it may be relied upon again. */
    @Test
    void aChannelIsHeardOnceItsListenersKnowThatItWasInterrupted() {
        List<Boolean> whenTold = new ArrayList<>();
        Disposable listening = channels.listen("c").subscribe(push -> whenTold.add(channels.isHeard("c")));
        assertThat(channels.isHeard("c")).isFalse();
        channels.subscribed("c");
        assertThat(channels.isHeard("c")).isTrue();

        channels.interrupted();
        assertThat(channels.isHeard("c")).isFalse();
        channels.subscribed("c");

        assertThat(whenTold).containsExactly(false, false);
        assertThat(channels.isHeard("c")).isTrue();
        listening.dispose();
        assertThat(channels.isHeard("c")).isFalse();
    }

    @Test
    void commandsThatGoElsewhereAfterTheFirstConfirmationAreAnInterruption() {
        List<Object> heard = new ArrayList<>();
        Disposable listening = channels.listen("c").subscribe(heard::add);

        channels.subscribed("c");
        channels.replaced();

        assertThat(heard).hasSize(2);
        listening.dispose();
    }
}
