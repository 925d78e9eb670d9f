package io.github.reactivelock.models;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.Fairness;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** However flows hand a lock on, and whatever answers and pushes cross one another, {@code Cohort.tla} allows it. */
@Timeout(value = 20, unit = TimeUnit.MINUTES) // it leaves the processor to what runs beside it
class CohortDriftTest {

    @ParameterizedTest
    @EnumSource(Fairness.class)
    void the_engine_takes_the_steps_of_the_model(Fairness fairness) {
        List<String> courses = new ArrayList<>();
        int passed = 0;
        for (int seed = 0; seed < 300; seed++) {
            CohortCourse course = new CohortCourse(seed, fairness);
            course.run();
            courses.add(course.text());
            passed += course.text().contains("\"passes\"") ? 1 : 0;
        }

        Tlc.Finding finding =
                Tlc.follow("Cohort", courses, "Shared = " + (fairness == Fairness.COHORT ? "TRUE" : "FALSE"));
        assertThat(finding.broken()).as(finding.output()).isEmpty();
        assertThat(passed).as("courses in which the lock was handed on").isGreaterThan(20);
    }
}
