package io.github.reactivelock.engine.user;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import reactor.test.util.RaceTestUtils;

/** One event at a time, in the order in which each poster posted, and none is lost. */
class MailboxTest {

    private record Event(int poster, int number) {}

    private final Queue<Runnable> elsewhere = new ArrayDeque<>();
    private final Mailbox mailbox = new Mailbox("k") {
        @Override
        public void goOnElsewhere(Runnable rest) {
            elsewhere.add(rest);
        }
    };

    @Test
    void whatAnEventPostsFollowsItInOrder() {
        List<String> handled = new ArrayList<>();
        mailbox.post(() -> {
            mailbox.post(() -> {
                handled.add("b");
                mailbox.post(() -> handled.add("d"));
            });
            mailbox.post(() -> handled.add("c"));
            handled.add("a");
        });
        mailbox.post(() -> handled.add("e"));

        assertThat(handled).containsExactly("a", "b", "c", "d", "e");
    }

    @Test
    void anEventThatThrowsKeepsNoOtherFromItsTurn() {
        List<String> handled = new ArrayList<>();
        mailbox.post(() -> {
            mailbox.post(() -> {
                throw new AssertionError("planted");
            });
            mailbox.post(() -> handled.add("after it"));
            throw new IllegalStateException("planted");
        });
        mailbox.post(() -> handled.add("later"));

        assertThat(handled).containsExactly("after it", "later");
    }

    /** As events that never cease do: each posts the next. */
    private void postForEver(AtomicInteger handled) {
        mailbox.post(() -> {
            handled.incrementAndGet();
            postForEver(handled);
        });
    }

    @Test
    void whoeverPostsHandlesOnlySoManyEvents() {
        AtomicInteger handled = new AtomicInteger();

        postForEver(handled);

        assertThat(handled).hasValue(Mailbox.MOST);
        assertThat(elsewhere).hasSize(1);
        elsewhere.remove().run();
        assertThat(handled).as("nor does who goes on").hasValue(2 * Mailbox.MOST);
        assertThat(elsewhere).hasSize(1);
    }

    @Test
    void theRestOfManyEventsIsHandledElsewhereInOrder() {
        List<Integer> handled = new ArrayList<>();
        int all = Mailbox.MOST + 10;
        mailbox.post(() -> {
            for (int i = 1; i < all; i++) {
                int number = i;
                mailbox.post(() -> handled.add(number));
            }
        });
        mailbox.post(() -> handled.add(all));
        assertThat(handled).hasSize(Mailbox.MOST - 1);

        elsewhere.remove().run();

        assertThat(handled).hasSize(all).isSorted();
        mailbox.post(() -> handled.add(all + 1));
        assertThat(handled).as("it is idle again").hasSize(all + 1);
    }

    @Test
    void whereNoThreadCanBeHadThePosterGoesOn() {
        Mailbox alone = new Mailbox("k") {
            @Override
            public void goOnElsewhere(Runnable rest) {
                throw new OutOfMemoryError("planted");
            }
        };
        AtomicInteger handled = new AtomicInteger();
        alone.post(() -> {
            for (int i = 0; i < 3 * Mailbox.MOST; i++) {
                alone.post(handled::incrementAndGet);
            }
        });

        assertThat(handled).hasValue(3 * Mailbox.MOST);
    }

    @Test
    void postersThatMeetKeepTheirOrderAndNeverOverlap() throws InterruptedException {
        ExecutorService threads = Executors.newFixedThreadPool(4);
        Mailbox mailbox = new Mailbox("k") {
            @Override
            public void goOnElsewhere(Runnable rest) {
                threads.execute(rest);
            }
        };
        int posters = 4;
        int each = 2_000;
        AtomicInteger inside = new AtomicInteger();
        AtomicInteger overlaps = new AtomicInteger();
        List<Event> handled = Collections.synchronizedList(new ArrayList<>());
        Runnable[] all = IntStream.range(0, posters)
                .<Runnable>mapToObj(poster -> () -> {
                    for (int i = 0; i < each; i++) {
                        Event event = new Event(poster, i);
                        mailbox.post(() -> {
                            overlaps.addAndGet(inside.getAndIncrement());
                            handled.add(event);
                            inside.decrementAndGet();
                        });
                    }
                })
                .toArray(Runnable[]::new);

        RaceTestUtils.race(all);
        CountDownLatch last = new CountDownLatch(1);
        mailbox.post(last::countDown);
        assertThat(last.await(1, TimeUnit.MINUTES)).isTrue();
        threads.shutdown();

        assertThat(overlaps).hasValue(0);
        assertThat(handled).hasSize(posters * each);
        assertThat(handled.stream()
                        .collect(Collectors.groupingBy(Event::poster))
                        .values())
                .allSatisfy(own -> assertThat(own).extracting(Event::number).isSorted());
    }
}
