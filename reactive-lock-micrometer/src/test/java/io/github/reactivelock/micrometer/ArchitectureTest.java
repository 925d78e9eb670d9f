package io.github.reactivelock.micrometer;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Test;

class ArchitectureTest {

    private static final JavaClasses MAIN = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages("io.github.reactivelock.micrometer");

    @Test
    void ofTheProjectOnlyTheApiIsSeen() {
        noClasses()
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("io.github.reactivelock.spi..", "io.github.reactivelock.memory..")
                .check(MAIN);
    }

    @Test
    void contextPropagationMayBeMissing() {
        noClasses()
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("io.micrometer.context..")
                .check(MAIN);
    }

    @Test
    void whatAUserImportsIsThisAndNoMore() {
        assertThat(MAIN.stream()
                        .filter(type -> type.getModifiers().contains(JavaModifier.PUBLIC))
                        .map(JavaClass::getSimpleName)
                        .filter(name -> !name.equals("package-info")))
                .containsExactlyInAnyOrder(
                        "LockObservations",
                        "LockObservation",
                        "Keys",
                        "Events",
                        "TraceKeys",
                        "LockMeter",
                        "LockObservationContext");
    }
}
