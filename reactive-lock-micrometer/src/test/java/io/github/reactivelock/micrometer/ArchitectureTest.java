package io.github.reactivelock.micrometer;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Test;

class ArchitectureTest {

    private static final JavaClasses MAIN = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages("io.github.reactivelock.micrometer");

    @Test
    void contextPropagationMayBeMissing() {
        noClasses()
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("io.micrometer.context..")
                .check(MAIN);
    }
}
