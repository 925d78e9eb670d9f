package io.github.reactivelock.examples.webflux.front;

import io.github.reactivelock.examples.webflux.shop.Activity;
import io.github.reactivelock.examples.webflux.shop.LockUse;
import io.github.reactivelock.examples.webflux.shop.LockUse.State;
import io.github.reactivelock.examples.webflux.shop.Shelf;
import io.github.reactivelock.state.LockEvent;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * Everything the page shows: the instances, the items, and what happened. Immutable; each change is a method.
 *
 * @param shops by name
 * @param items by name
 * @param past holds of processes that have ended
 * @param news the last of them, the oldest first
 */
record Fleet(Map<String, Shop> shops, Map<String, Item> items, List<Lane.Row> past, List<View.News> news) {

    private static final int KEPT_NEWS = 8;
    private static final int KEPT_HOLDS = 60;

    /** Before the first start, which begins at once. */
    static Fleet of(List<String> names) {
        Map<String, Shop> shops = new TreeMap<>();
        names.forEach(name -> shops.put(name, Shop.ended(name).in(Shop.Status.STARTING)));
        Map<String, Item> items = new TreeMap<>();
        Shelf.ITEMS.forEach(item -> items.put(item, Item.free(item)));
        return new Fleet(shops, items, List.of(), List.of());
    }

    Shop shop(String name) {
        return shops.getOrDefault(name, Shop.ended(name));
    }

    Item item(String name) {
        return items.getOrDefault(name, Item.free(name));
    }

    Fleet starting(String name) {
        return with(shop(name).in(Shop.Status.STARTING));
    }

    Fleet running(String name, String address) {
        return with(shop(name).at(address)).say(name + " runs");
    }

    /** No news of one that has ended meanwhile, or has not told its address yet. */
    Fleet paused(String name) {
        return shop(name).status() == Shop.Status.RUNNING
                ? with(shop(name).in(Shop.Status.PAUSED)).say(name + " stands still, as in a long pause of its JVM")
                : this;
    }

    Fleet resumed(String name) {
        return shop(name).status() == Shop.Status.PAUSED
                ? with(shop(name).in(Shop.Status.RUNNING)).say(name + " goes on")
                : this;
    }

    /** What an instance says of its locks. Losses and risks are news. */
    Fleet told(String name, Activity now) {
        Shop before = shop(name);
        Fleet told = with(before.told(now));
        for (LockUse use : now.uses()) {
            if (!before.activity().uses().contains(use)) {
                String item = itemOf(use);
                if (use.state() == State.AT_RISK) {
                    told = told.say("%s may soon lose %s", name, item);
                } else if (use.state() == State.LOST) {
                    told = told.say("%s lost %s: %s", name, item, use.note());
                }
            }
        }
        return told;
    }

    /** Its process is no more. What it held, as the store says, stays locked until the lease has run out. */
    Fleet ended(String name, long when) {
        List<Lane.Row> longer = new ArrayList<>(past);
        for (LockUse use : shop(name).activity().uses()) {
            if (use.token() != 0) {
                longer.add(new Lane.Row(name, use, use.isHeld() ? when : 0));
            }
        }
        longer.sort(Comparator.comparingLong(row -> row.use().token()));
        List<Lane.Row> kept = longer.subList(Math.max(0, longer.size() - KEPT_HOLDS), longer.size());
        List<String> held = heldBy(name).stream().map(Item::item).toList();
        Fleet ended = new Fleet(shops, items, List.copyOf(kept), news)
                .with(Shop.ended(name))
                .say(
                        held.isEmpty()
                                ? name + " has ended"
                                : name + " has ended while it held " + String.join(", ", held));
        for (Item item : heldBy(name)) {
            ended = ended.with(item.died(name, when));
        }
        return ended;
    }

    List<Item> heldBy(String name) {
        return items.values().stream()
                .filter(item -> item.holder().equals(name))
                .toList();
    }

    /** What the store says of a lock. What becomes of one that a dead instance held is news. */
    Fleet told(String name, LockEvent event, long when) {
        Item before = item(name);
        Item now = before.told(event);
        if (before.killed().isEmpty() || now.equals(before)) {
            return with(now);
        }
        String after = String.format(
                Locale.ROOT, ", %.1f s after %s was killed", (when - before.killedAt()) / 1e6, before.killed());
        if (!now.holder().isEmpty()) {
            return with(now).say(now.holder() + " has " + name + after);
        }
        // Else it is the next one's in a moment.
        return isWaitedFor(name) ? with(now) : with(now.settled()).say(name + " is free" + after);
    }

    private boolean isWaitedFor(String item) {
        return shops.values().stream()
                .flatMap(shop -> shop.activity().uses().stream())
                .anyMatch(use -> use.state() == State.WAITS && use.key().equals(Shelf.lockOf(item)));
    }

    Fleet sold(String name, int count) {
        return with(item(name).sold(count));
    }

    Fleet say(String text, Object... values) {
        int number = news.isEmpty() ? 1 : news.get(news.size() - 1).number() + 1;
        List<View.News> longer = new ArrayList<>(news.subList(Math.max(0, news.size() - KEPT_NEWS + 1), news.size()));
        longer.add(new View.News(number, values.length == 0 ? text : String.format(Locale.ROOT, text, values)));
        return new Fleet(shops, items, past, List.copyOf(longer));
    }

    View view() {
        List<Lane.Row> rows = Stream.concat(
                        shops.values().stream()
                                .flatMap(shop ->
                                        shop.activity().uses().stream().map(use -> new Lane.Row(shop.name(), use, 0))),
                        past.stream())
                .toList();
        return new View(
                shops.values().stream().map(Shop::view).toList(),
                items.values().stream()
                        .map(item -> Lane.of(item, rowsOf(item, rows)))
                        .toList(),
                news);
    }

    private static List<Lane.Row> rowsOf(Item item, List<Lane.Row> rows) {
        return rows.stream()
                .filter(row -> row.use().key().equals(Shelf.lockOf(item.item())))
                .toList();
    }

    private static String itemOf(LockUse use) {
        return use.key().substring(use.key().indexOf(':') + 1);
    }

    private Fleet with(Shop changed) {
        return new Fleet(put(shops, changed.name(), changed), items, past, news);
    }

    private Fleet with(Item changed) {
        return new Fleet(shops, put(items, changed.item(), changed), past, news);
    }

    private static <T> Map<String, T> put(Map<String, T> before, String name, T value) {
        Map<String, T> changed = new TreeMap<>(before);
        changed.put(name, value);
        return changed;
    }
}
