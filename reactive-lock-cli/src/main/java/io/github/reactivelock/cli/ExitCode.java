package io.github.reactivelock.cli;

import java.util.LinkedHashMap;
import java.util.Map;

/** How the program ends, for scripts. */
enum ExitCode {
    DONE(0, "done; of show: the lock is held"),
    NO(1, "no; of show: the lock is free, of wait: it is still held, of release: nothing was removed"),
    USAGE(2, "the command line is wrong"),
    STORE(3, "the store could not be asked: not reached, silent, or it refuses the user, the password or a permission"),
    DEFECT(70, "a defect of this program"),
    INTERRUPTED(130, "ended by Ctrl-C, once the connection was closed");

    final int code;
    final String meaning;

    ExitCode(int code, String meaning) {
        this.code = code;
        this.meaning = meaning;
    }

    /** As picocli shows them. */
    static Map<String, String> all() {
        Map<String, String> all = new LinkedHashMap<>();
        for (ExitCode each : values()) {
            all.put(Integer.toString(each.code), each.meaning);
        }
        return all;
    }
}
