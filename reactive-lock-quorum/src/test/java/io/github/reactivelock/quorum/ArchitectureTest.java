package io.github.reactivelock.quorum;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Test;

class ArchitectureTest {

    private static final String ROOT = "io.github.reactivelock";
    private static final JavaClasses MAIN = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages(ROOT + ".quorum");

    @Test
    void theQuorumSeesTheSpiOnly() {
        classes()
                .should()
                .onlyDependOnClassesThat()
                .resideInAnyPackage(
                        "java..",
                        "org.reactivestreams..",
                        "org.jspecify..",
                        "reactor..",
                        ROOT + ".spi..",
                        ROOT + ".state..",
                        ROOT + ".quorum..")
                .check(MAIN);
    }
}
