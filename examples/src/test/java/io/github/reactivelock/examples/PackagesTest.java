package io.github.reactivelock.examples;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What holds for the packages of every module, which this one sees all of. */
class PackagesTest {

    private static final String ROOT = "io.github.reactivelock";
    /** Of the core's root package these make an engine; the engine sees what else is there, and not them. */
    private static final Set<String> DOOR = Set.of(ROOT + ".LockClient", ROOT + ".LockClientBuilder");

    private static final JavaClasses MAIN = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages(ROOT);

    @Test
    void noModuleHasACircleOfPackages() {
        slices().assignedFrom(new SliceAssignment() {
                    @Override
                    public SliceIdentifier getIdentifierOf(JavaClass javaClass) {
                        return SliceIdentifier.of(isTheDoor(javaClass) ? "door" : javaClass.getPackageName());
                    }

                    @Override
                    public String getDescription() {
                        return "packages";
                    }
                })
                .should()
                .beFreeOfCycles()
                .check(MAIN);
    }

    @Test
    void nothingOutsideTheCoreSeesItsEngine() {
        noClasses()
                .that(describe("no door and not in the engine", type -> !isTheDoor(type)))
                .and()
                .resideOutsideOfPackage(ROOT + ".engine..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(ROOT + ".engine..")
                .check(MAIN);
    }

    private static boolean isTheDoor(JavaClass javaClass) {
        String name = javaClass.getName();
        return DOOR.stream().anyMatch(door -> name.equals(door) || name.startsWith(door + "$"));
    }
}
