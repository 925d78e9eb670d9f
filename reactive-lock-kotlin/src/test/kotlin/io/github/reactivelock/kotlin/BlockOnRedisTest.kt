package io.github.reactivelock.kotlin

import io.github.reactivelock.lettuce.LettuceLockBackend
import io.github.reactivelock.spi.LockBackend
import io.github.reactivelock.testservers.RedisServer
import org.junit.jupiter.api.AfterAll
import org.junit.jupiter.api.BeforeAll

/** Over a real server, whose answers and pushes come on other threads and later. */
class BlockOnRedisTest : BlockCases() {
    override fun backend(): LockBackend = LettuceLockBackend.connect(server.uri())

    companion object {
        private lateinit var server: RedisServer

        @BeforeAll
        @JvmStatic
        fun start() {
            server = RedisServer.start()
        }

        @AfterAll
        @JvmStatic
        fun stop() {
            server.close()
        }
    }
}
