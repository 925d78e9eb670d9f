package io.github.reactivelock.models;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Whatever a quorum does, asked by three claims and answered in any order, {@code Quorum.tla} allows. */
@Timeout(value = 20, unit = TimeUnit.MINUTES) // it leaves the processor to what runs beside it
class QuorumDriftTest {

    /** A step of the claim that tries, after which it asks as one that waits. */
    private static final Pattern TRIES_ON = Pattern.compile("\"asks\", claim \\|-> 3, [^\\]]*\"vote\"[^\\]]*\\]");

    @Test
    void the_quorum_takes_the_steps_of_the_model() {
        List<String> courses = new ArrayList<>();
        int writtenBack = 0;
        int agreed = 0;
        int forced = 0;
        int again = 0;
        int tryingOn = 0;
        int turnedAway = 0;
        for (int seed = 0; seed < 360; seed++) {
            QuorumCourse course = new QuorumCourse(seed, seed >= 300);
            course.run();
            String steps = course.text();
            courses.add(steps);
            writtenBack += steps.contains("\"holds\"") ? 1 : 0;
            agreed += steps.contains("\"agrees\"") ? 1 : 0;
            forced += steps.contains("\"forced\"") ? 1 : 0;
            tryingOn += steps.contains("\"try\"") && TRIES_ON.matcher(steps).find() ? 1 : 0;
            turnedAway += steps.contains("\"busy\"") ? 1 : 0;
            again += steps.contains("\"again\"") ? 1 : 0;
        }

        Tlc.Finding finding = Tlc.follow("Quorum", courses);
        assertThat(finding.broken()).as(finding.output()).isEmpty();
        assertThat(writtenBack).as("courses in which a token was written back").isGreaterThan(50);
        assertThat(agreed).as("courses with a hold after one round trip").isGreaterThan(100);
        assertThat(forced)
                .as("courses in which an operator ended a grant by force")
                .isPositive();
        assertThat(tryingOn)
                .as("courses in which a split try went on as a claim that waits")
                .isGreaterThan(20);
        assertThat(turnedAway).as("courses in which a try found the lock taken").isGreaterThan(20);
        assertThat(again)
                .as("courses in which a node was told again to give back")
                .isPositive();
    }
}
