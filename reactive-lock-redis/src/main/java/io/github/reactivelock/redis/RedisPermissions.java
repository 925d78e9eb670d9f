package io.github.reactivelock.redis;

import java.util.Locale;

/** What a Redis user needs, as an error says it to one who lacks something. The page on security lists the same. */
final class RedisPermissions {

    /** What all calls of a client need, one by one: of the server's own groups some let a user delete everything. */
    private static final String OF_LOCKS = "+evalsha +eval +script|load +subscribe +unsubscribe +publish +get +set +del"
            + " +exists +type +time +pexpire +pttl +scan +zadd +zrem +zpopmin +zrange +zrevrange +zrangebyscore"
            + " +zrevrangebyscore +zscore +zcount +hset +hget +hgetall +hdel +hvals";

    private static final String OF_SOME_SETUPS = "; besides, a node of a quorum needs +info, withReplicas +wait,"
            + " connectPrimary +role, a primary of several in Vert.x +info, a cluster +cluster|slots and in Lettuce"
            + " +cluster|nodes +info, withShardedChannels +ssubscribe +sunsubscribe +spublish";

    private static final String INSTEAD_OF_A_BRACE =
            "; or use a prefix with a colon, with which keys begin instead of with a brace";

    private RedisPermissions() {}

    /** How a user gets what follows; an empty name is not known. */
    static String setUser(String user) {
        return user.isEmpty() ? "ACL SETUSER, for the user that ACL WHOAMI names, with " : "ACL SETUSER " + user + " ";
    }

    /** What locks of a prefix need. */
    static String ofLocks(String prefix) {
        String keys = KeyLayout.permitted(prefix);
        return "~" + keys + "* &" + KeyLayout.permittedChannels(prefix) + "* " + OF_LOCKS + OF_SOME_SETUPS
                + (keys.startsWith("{") ? INSTEAD_OF_A_BRACE : "");
    }

    /** What it takes to listen to the channels of a prefix. */
    static String ofChannels(String prefix, boolean isSharded) {
        return "&" + KeyLayout.permittedChannels(prefix)
                + (isSharded ? "* +ssubscribe +sunsubscribe" : "* +subscribe +unsubscribe");
    }

    /** What a guard needs to write to a key. */
    static String ofGuard(String key, String tokenKey, String command) {
        return "~" + key + " ~" + tokenKey + " +evalsha +eval +get +set +" + command.toLowerCase(Locale.ROOT);
    }
}
