package io.github.reactivelock.faults;

import io.github.reactivelock.faults.Lab.Person;
import io.github.reactivelock.testservers.RedisServer;

/** All rows of the fault matrix, for one Redis, which writes down what it did before it answers. */
abstract class RedisMatrix extends FaultCases implements RestartCases, EmptyCases, RedisCases, KeptCases {

    static final String[] WRITES_DOWN = {"--appendonly", "yes", "--appendfsync", "no"};

    private final String client;

    /** @param client what an address begins with, so that it is this client's */
    RedisMatrix(String client) {
        this.client = client;
    }

    @Override
    public RedisServer server() {
        return lab().server;
    }

    @Override
    public Person person(String user, String password) {
        return lab().person(client + "redis://" + user + ":" + password + "@127.0.0.1:" + server().port());
    }

    @Override
    public void restart() {
        server().kill();
        server().restart();
    }

    @Override
    public void restartEmpty() {
        server().restartEmpty();
    }

    @Override
    public boolean tokensRiseAllTheSame() {
        return true;
    }
}
