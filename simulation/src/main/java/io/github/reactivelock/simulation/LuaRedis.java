package io.github.reactivelock.simulation;

import io.github.reactivelock.redis.RedisScript;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import party.iroiro.luajava.Lua;
import party.iroiro.luajava.lua51.Lua51;

/**
 * Runs the script of the lock as a Redis does: in the same Lua, with a {@code redis.call} that leads to commands in
 * memory. For one thread.
 */
final class LuaRedis {

    /** As Redis raises errors of commands: a table that says what went wrong. */
    private static final String PRELUDE = """
            redis = {}
            function redis.call(...)
              local reply = command(...)
              if type(reply) == 'table' and reply.err then error(reply, 0) end
              return reply
            end
            redis.pcall = function(...) return command(...) end
            function redis.error_reply(text) return { err = text } end
            function run()
              local fine, reply = pcall(lock)
              if fine then return reply end
              if type(reply) == 'table' then return reply end
              return { err = tostring(reply) }
            end
            """;

    /** What a command answers when it is done and has nothing to say. */
    record Status(String text) {}

    /** What a command or a script answers when it failed. */
    record Failure(String text) {}

    private final Lua lua = new Lua51();
    private final RedisData data;
    private final Thread ofTheWorld = Thread.currentThread();
    private volatile boolean closed;

    LuaRedis(RedisData data) {
        this(data, RedisScript.lock().body());
    }

    /** @param script in place of the lock's */
    LuaRedis(RedisData data, String script) {
        this.data = data;
        lua.openLibraries();
        lua.push(called -> {
            push(called, command(called));
            return 1;
        });
        lua.setGlobal("command");
        lua.run(PRELUDE);
        lua.load(script);
        lua.setGlobal("lock");
    }

    /** The reply as a client sees it: an array, or one of a single element, or of none if it is nothing. */
    List<Object> eval(List<String> keys, List<String> args) {
        if (closed || Thread.currentThread() != ofTheWorld) {
            // A timer of the driver, in the machine's own time: after its world has ended there is no interpreter.
            throw new IllegalStateException("a script is not run outside of its world");
        }
        table(keys);
        lua.setGlobal("KEYS");
        table(args);
        lua.setGlobal("ARGV");
        lua.getGlobal("run");
        lua.pCall(0, 1);
        Object reply = reply(lua.getTop());
        lua.pop(1);
        if (reply instanceof Failure failure) {
            throw new IllegalStateException(failure.text());
        }
        if (reply == null) {
            return List.of();
        }
        return reply instanceof List<?> array ? new ArrayList<>(array) : List.of(reply);
    }

    private void table(List<String> values) {
        lua.createTable(values.size(), 0);
        for (int i = 0; i < values.size(); i++) {
            lua.push(values.get(i));
            lua.rawSetI(-2, i + 1);
        }
    }

    private Object command(Lua called) {
        List<String> words = new ArrayList<>();
        for (int i = 1; i <= called.getTop(); i++) {
            if (called.type(i) == Lua.LuaType.NUMBER) {
                double number = called.toNumber(i);
                words.add(number == Math.rint(number) ? Long.toString((long) number) : Double.toString(number));
            } else {
                words.add("" + called.toString(i));
            }
        }
        try {
            return data.command(words);
        } catch (RedisKeys.Refused e) {
            return new Failure("" + e.getMessage());
        }
    }

    private static void push(Lua to, @Nullable Object reply) {
        if (reply == null || reply == RedisData.NIL) {
            to.push(false);
        } else if (reply instanceof Long number) {
            to.push((Number) number.doubleValue());
        } else if (reply instanceof Status status) {
            field(to, "ok", status.text());
        } else if (reply instanceof Failure failure) {
            field(to, "err", failure.text());
        } else if (reply instanceof List<?> array) {
            to.createTable(array.size(), 0);
            for (int i = 0; i < array.size(); i++) {
                push(to, array.get(i));
                to.rawSetI(-2, i + 1);
            }
        } else {
            to.push(reply.toString());
        }
    }

    private static void field(Lua to, String name, String text) {
        to.createTable(0, 1);
        to.push(text);
        to.setField(-2, name);
    }

    private @Nullable Object reply(int index) {
        return switch (lua.type(index)) {
            case NUMBER -> (long) lua.toNumber(index);
            case STRING -> lua.toString(index);
            case BOOLEAN -> lua.toBoolean(index) ? 1L : null;
            case TABLE -> table(index);
            default -> null;
        };
    }

    /** An array, or a failure. */
    private Object table(int index) {
        lua.getField(index, "err");
        if (lua.type(-1) == Lua.LuaType.STRING) {
            String text = "" + lua.toString(-1);
            lua.pop(1);
            return new Failure(text);
        }
        lua.pop(1);
        List<Object> array = new ArrayList<>();
        for (int i = 1; ; i++) {
            lua.rawGetI(index, i);
            Object element = reply(lua.getTop());
            lua.pop(1);
            if (element == null) { // the first ends an array
                return array;
            }
            array.add(element);
        }
    }

    void close() {
        closed = true;
        lua.close();
    }
}
