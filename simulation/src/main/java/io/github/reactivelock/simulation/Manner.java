package io.github.reactivelock.simulation;

/**
 * How a driver and its network behave, and the threads that call it.
 *
 * @param latency nanoseconds that a question takes on its way, about
 * @param lateShare of what is much later
 * @param latest by how many nanoseconds that is late at most
 * @param dawdles late by any time up to that; else hardly ever by so much
 * @param asksAgain what a broken connection left without an answer
 * @param order of what is on its way
 * @param standstills share of the calls at which the thread stands still for a while, and others of its process do not
 * @param immediate there is no way: the store answers inside the call, as the one in the process does
 * @param overtakes what is left of a connection that broke, by what goes over the next one
 */
record Manner(
        long latency,
        double lateShare,
        long latest,
        boolean dawdles,
        boolean asksAgain,
        Order order,
        double standstills,
        boolean immediate,
        boolean overtakes) {

    /** For questions and answers. */
    enum Order {
        /** All go over one connection. */
        KEPT("in order"),
        /** Answers overtake one another. */
        OF_QUESTIONS("answers in any order"),
        /** Questions do too, as over a pool of connections. */
        NONE("in any order");

        private final String text;

        Order(String text) {
            this.text = text;
        }
    }

    private static final long MILLI = 1_000_000;

    /** Nothing is late. */
    static Manner steady(long latency, boolean asksAgain, Order order) {
        return new Manner(latency, 0, 0, false, asksAgain, order, 0, false, false);
    }

    static Manner immediately() {
        return new Manner(MILLI, 0, 0, false, true, Order.KEPT, 0, true, false);
    }

    Manner late(double share, long most) {
        return new Manner(latency, share, most, false, asksAgain, order, standstills, immediate, overtakes);
    }

    Manner dawdling(double share, long most) {
        return new Manner(latency, share, most, true, asksAgain, order, standstills, immediate, overtakes);
    }

    Manner standingStill(double share) {
        return new Manner(latency, lateShare, latest, dawdles, asksAgain, order, share, immediate, overtakes);
    }

    Manner overtaking() {
        return new Manner(latency, lateShare, latest, dawdles, asksAgain, order, standstills, immediate, true);
    }

    @Override
    public String toString() {
        return String.format(
                "latency %d us, %.0f%% late by %sup to %d ms, %s, %s, %.1f%% of calls stand still",
                latency / 1_000,
                100 * lateShare,
                dawdles ? "anything " : "",
                latest / MILLI,
                asksAgain ? "asks again" : "fails",
                order.text + (overtakes ? ", on each connection by itself" : ""),
                100 * standstills);
    }
}
