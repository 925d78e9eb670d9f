package io.github.reactivelock.simulation;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * What is to happen, the earliest first: a heap, as {@link java.util.PriorityQueue} is one, from which what was called
 * off is taken out at once. Most of what is put on it are timers that never run.
 */
final class Agenda {

    /** Something that happens at a time, unless it is put off or called off before. */
    static final class Event {
        private final Runnable task;
        private long at;
        /** Orders those of the same time; the lowest is first. */
        private long tie;

        private int place = NOWHERE;
        private boolean off;

        Event(Runnable task) {
            this.task = task;
        }

        long at() {
            return at;
        }

        void happen() {
            task.run();
        }

        boolean isOff() {
            return off;
        }

        private boolean isBefore(Event other) {
            return at < other.at || (at == other.at && tie < other.tie);
        }
    }

    private static final int NOWHERE = -1;

    private Event[] heap = new Event[64];
    private int size;

    void put(Event event, long at, long tie) {
        if (event.off) {
            return;
        }
        event.at = at;
        event.tie = tie;
        if (size == heap.length) {
            heap = Arrays.copyOf(heap, 2 * size);
        }
        rise(event, size++);
    }

    /** The next one, if it is due by then. */
    @Nullable
    Event next(long until) {
        if (size == 0 || heap[0].at > until) {
            return null;
        }
        Event first = heap[0];
        take(first);
        return first;
    }

    void callOff(Event event) {
        event.off = true;
        if (event.place != NOWHERE) {
            take(event);
        }
    }

    private void take(Event event) {
        int place = event.place;
        event.place = NOWHERE;
        Event last = heap[--size];
        if (last != event) {
            if (place > 0 && last.isBefore(heap[(place - 1) / 2])) {
                rise(last, place);
            } else {
                sink(last, place);
            }
        }
    }

    private void rise(Event event, int from) {
        int place = from;
        while (place > 0 && event.isBefore(heap[(place - 1) / 2])) {
            set(place, heap[(place - 1) / 2]);
            place = (place - 1) / 2;
        }
        set(place, event);
    }

    private void sink(Event event, int from) {
        int place = from;
        int below = 2 * place + 1;
        while (below < size) {
            if (below + 1 < size && heap[below + 1].isBefore(heap[below])) {
                below++;
            }
            if (!heap[below].isBefore(event)) {
                break;
            }
            set(place, heap[below]);
            place = below;
            below = 2 * place + 1;
        }
        set(place, event);
    }

    private void set(int place, Event event) {
        heap[place] = event;
        event.place = place;
    }
}
