package io.github.reactivelock;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import reactor.test.util.RaceTestUtils;

/** One event at a time, in the order in which each poster posted, and none is lost. */
class MailboxTest {

    private record Event(int poster, int number) {}

    private final Mailbox mailbox = new Mailbox("k") {};

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

    @Test
    void postersThatMeetKeepTheirOrderAndNeverOverlap() {
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

        assertThat(overlaps).hasValue(0);
        assertThat(handled).hasSize(posters * each);
        assertThat(handled.stream()
                        .collect(Collectors.groupingBy(Event::poster))
                        .values())
                .allSatisfy(own -> assertThat(own).extracting(Event::number).isSorted());
    }
}
