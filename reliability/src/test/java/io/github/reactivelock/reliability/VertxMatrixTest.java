package io.github.reactivelock.reliability;

import io.github.reactivelock.reliability.Lab.Person;
import io.github.reactivelock.testkit.RedisServer;

/** The fault matrix of one Redis, which writes down what it did before it answers, through the Vert.x client. All rows. */
class VertxMatrixTest extends FaultCases implements RestartCases, EmptyCases, RedisCases {

    @Override
    Store open() {
        return RedisStore.vertx("--appendonly", "yes", "--appendfsync", "no");
    }

    @Override
    public RedisServer server() {
        return lab().server;
    }

    @Override
    public Person person(String user, String password) {
        return lab().person("vertx:redis://" + user + ":" + password + "@127.0.0.1:" + server().port());
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
