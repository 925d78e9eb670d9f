package io.github.reactivelock.fuzzing;

import io.github.reactivelock.redis.RedisTargets;
import io.github.reactivelock.spi.FencingTokens;
import io.github.reactivelock.spi.Signal;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Readers with a fault each, which the fuzzing has to find. */
public final class Planted {

    private static final Pattern GRANT = Pattern.compile("grant (\\S{1,64}) ([1-9][0-9]{0,14})");

    private static final List<Target> FAULTS = List.of(
            Target.of("a grant out of garbage", Planted::grant, "grant AAAAAAAAAAAAAAAAAAAAAA 7"),
            Target.of("a crash", Planted::crash, "acquired 7/1 owner", "released 7"));

    private static final List<Target> HANGS = List.of(Target.of("a hang", Planted::hang, "a,b"));

    private Planted() {}

    private static void grant(String text) {
        RedisTargets.push(text, message -> {
            Matcher matcher = GRANT.matcher(message);
            return matcher.find() // and not matches()
                    ? new Signal.Grant(matcher.group(1), FencingTokens.of(Long.parseLong(matcher.group(2))))
                    : null;
        });
    }

    /** It looks behind the second space where there may be none. */
    private static void crash(String text) {
        if (text.startsWith("acquired ")) {
            Target.must(!text.substring(0, text.indexOf(' ', 9)).isEmpty(), "begins");
        }
    }

    /** An empty word is not passed over. */
    private static void hang(String text) {
        int at = 0;
        while (at < text.length()) {
            int comma = text.indexOf(',', at);
            at = comma < 0 ? text.length() : comma == at ? at : comma + 1;
        }
    }

    /** For Jazzer. */
    public static final class Faults {
        private Faults() {}

        public static void fuzzerTestOneInput(byte[] input) {
            Fuzz.run(FAULTS, input);
        }

        static void writeSeeds(Path folder) throws IOException {
            Fuzz.writeSeeds(FAULTS, folder);
        }
    }

    /** For Jazzer: apart, because a hang ends its process. */
    public static final class Hangs {
        private Hangs() {}

        public static void fuzzerTestOneInput(byte[] input) {
            Fuzz.run(HANGS, input);
        }

        static void writeSeeds(Path folder) throws IOException {
            Fuzz.writeSeeds(HANGS, folder);
        }
    }
}
