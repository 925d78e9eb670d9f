package io.github.reactivelock.consul;

/**
 * What an agent answered.
 *
 * @param status of HTTP
 * @param index of {@code X-Consul-Index}, or zero
 * @param body may be empty
 * @param repeated whether the question may have been carried out before it was put for this answer
 */
record Answer(int status, long index, String body, boolean repeated) {

    static final int OK = 200;
    static final int NOT_FOUND = 404;
    static final int CONFLICT = 409;

    private static final int TOO_MANY = 429;
    private static final int SERVER = 500;

    Answer afterOthers(boolean mayHaveBeenCarriedOut) {
        return new Answer(status, index, body, repeated || mayHaveBeenCarriedOut);
    }

    /**
     * A cluster without a leader for a moment, one that changes it, an agent that has too much to do. Consul answers
     * with the same status what it will not do however often it is asked.
     */
    boolean passes() {
        return status == TOO_MANY || (status >= SERVER && !ConsulFailure.lasts(body));
    }
}
