package io.github.reactivelock.testservers;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.simpleName;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Test;

class ArchitectureTest {

    private static final JavaClasses MAIN = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages("io.github.reactivelock.testservers");

    /** The benchmarks start servers without it. */
    @Test
    void aServerStartsWithoutJUnit() {
        noClasses()
                .that()
                .doNotHaveSimpleName("ServersMet")
                .and()
                .doNotHaveSimpleName("RedisAddressContract")
                .should()
                .dependOnClassesThat(resideInAnyPackage("org.junit..", "org.assertj..")
                        .or(simpleName("ServersMet"))
                        .or(simpleName("RedisAddressContract")))
                .check(MAIN);
    }
}
