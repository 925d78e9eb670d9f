package io.github.reactivelock.spring.boot;

import io.github.reactivelock.election.LeaderElection;
import io.github.reactivelock.election.Leadership;
import java.util.function.Function;
import org.reactivestreams.Publisher;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.ApplicationEvent;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.integration.leader.Context;
import org.springframework.integration.leader.event.OnGrantedEvent;
import org.springframework.integration.leader.event.OnRevokedEvent;
import reactor.core.publisher.Mono;

/**
 * Terms as events of Spring Integration. Apart from {@link ElectionLifecycle}, because that library may not be there.
 */
final class LeaderEvents {

    private static final Logger log = LoggerFactory.getLogger(LeaderEvents.class);

    private LeaderEvents() {}

    /** The work of a leader that lasts for as long as its term. */
    static Function<Leadership, Publisher<?>> of(
            LeaderElection election, String role, ApplicationEventPublisher events) {
        return leadership -> Mono.using(
                () -> {
                    Term term = new Term(leadership, role);
                    tell(events, new OnGrantedEvent(election, term, role));
                    return term;
                },
                term -> Mono.never(),
                term -> tell(events, new OnRevokedEvent(election, term, role)));
    }

    /**
     * What a listener throws must not end the campaign, and the end of a term is published also if its beginning
     * failed.
     */
    private static void tell(ApplicationEventPublisher events, ApplicationEvent event) {
        try {
            events.publishEvent(event);
        } catch (Throwable thrown) { // an Error too: other listeners got the beginning
            log.warn("a listener of {} failed", event, thrown);
        }
    }

    private record Term(Leadership leadership, String role) implements Context {
        @Override
        public boolean isLeader() {
            return leadership.isLeader();
        }

        @Override
        public void yield() {
            leadership
                    .resign()
                    .subscribe(resigned -> {}, failed -> log.warn("the leader of {} could not resign", role, failed));
        }

        @Override
        public String getRole() {
            return role;
        }
    }
}
