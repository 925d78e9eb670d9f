package io.github.reactivelock.kotlin

/** Over the store in the process. */
class BlockTest : BlockCases()
