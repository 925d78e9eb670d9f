package io.github.reactivelock.election;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.state.LockEvent;
import io.github.reactivelock.state.LockInfo;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class LeaderWatchNewsTest {

    private final LeaderWatch.News news = new LeaderWatch.News();

    private static LockEvent held(String owner, long term) {
        return new LockEvent.Snapshot(new LockInfo.Held("k", owner, term, Duration.ofSeconds(9), 0, null, List.of()));
    }

    @Test
    void theEndOfATermBeforeTheOneThatASnapshotShowsIsOld() {
        assertThat(news.isNews(held("b", 2))).isTrue();
        assertThat(news.isNews(new LockEvent.Released("k", 1))).isFalse();
        assertThat(news.isNews(new LockEvent.Acquired("k", "b", 2))).isTrue();
        assertThat(news.isNews(new LockEvent.Released("k", 2))).isTrue();
    }

    @Test
    void aSnapshotIsBelievedThoughItsTokensAreLower() {
        assertThat(news.isNews(new LockEvent.Acquired("k", "a", 7))).isTrue();
        assertThat(news.isNews(held("b", 2))).isTrue();
        assertThat(news.isNews(new LockEvent.Acquired("k", "c", 3))).isTrue();
    }
}
