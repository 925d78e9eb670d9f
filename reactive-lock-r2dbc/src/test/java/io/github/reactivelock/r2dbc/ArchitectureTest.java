package io.github.reactivelock.r2dbc;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Test;

class ArchitectureTest {

    private static final JavaClasses MAIN = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages("io.github.reactivelock.r2dbc");

    @Test
    void onlyNotificationsNeedTheDriverOfOneDatabase() {
        noClasses()
                .that()
                .doNotHaveSimpleName("PgNotifications")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("io.r2dbc.postgresql..", "org.mariadb..", "io.r2dbc.h2..")
                .check(MAIN);
    }
}
