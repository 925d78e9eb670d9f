package io.github.reactivelock;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaMethodCall;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import java.util.Set;
import org.junit.jupiter.api.Test;
import reactor.core.CorePublisher;

/** Which package sees which, what is public, and what no class does. */
class ArchitectureTest {

    private static final String ROOT = "io.github.reactivelock";
    private static final JavaClasses MAIN =
            new ClassFileImporter().withImportOption(new ImportOption.DoNotIncludeTests()).importPackages(ROOT);
    private static final String[] LIBRARIES = {"java..", "org.reactivestreams..", "org.jspecify..", "reactor.."};
    private static final Set<String> BLOCKING =
            Set.of("block", "blockFirst", "blockLast", "blockOptional", "toIterable", "toStream");

    @Test
    void packagesHaveNoCycles() {
        slices().assignedFrom(new SliceAssignment() {
                    @Override
                    public SliceIdentifier getIdentifierOf(JavaClass javaClass) {
                        return SliceIdentifier.of(javaClass.getPackageName());
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
    void theSpiSeesNothingButItself() {
        classes()
                .that()
                .resideInAPackage(ROOT + ".spi..")
                .should()
                .onlyDependOnClassesThat(resideInAnyPackage(LIBRARIES).or(resideInAnyPackage(ROOT + ".spi..")))
                .check(MAIN);
    }

    @Test
    void theStoreInMemorySeesTheSpiOnly() {
        classes()
                .that()
                .resideInAPackage(ROOT + ".memory..")
                .should()
                .onlyDependOnClassesThat(resideInAnyPackage(LIBRARIES)
                        .or(resideInAnyPackage(ROOT + ".spi..", ROOT + ".memory..", "org.slf4j..")))
                .check(MAIN);
    }

    @Test
    void theEngineKnowsNoStore() {
        classes()
                .that()
                .resideInAPackage(ROOT)
                .should()
                .onlyDependOnClassesThat(resideInAnyPackage(LIBRARIES)
                        .or(resideInAnyPackage(ROOT, ROOT + ".spi..", "org.slf4j..")))
                .check(MAIN);
    }

    @Test
    void whatAUserImportsIsThisAndNoMore() {
        assertThat(MAIN.stream()
                        .filter(type -> type.getPackageName().equals(ROOT))
                        .filter(type -> type.getModifiers().contains(JavaModifier.PUBLIC))
                        .map(JavaClass::getSimpleName)
                        .filter(name -> !name.equals("package-info")))
                .containsExactlyInAnyOrder(
                        "Fairness",
                        "LockClient",
                        "LockClientBuilder",
                        "LockClientClosedException",
                        "LockContext",
                        "LockException",
                        "LockHandle",
                        "LockListener",
                        "LockLostException",
                        "LockOptions",
                        "LockTimeoutException",
                        "LockUnavailableException");
    }

    @Test
    void noClassBlocksAThread() {
        DescribedPredicate<JavaMethodCall> blocking = describe(
                "calls that block",
                call -> BLOCKING.contains(call.getTarget().getName())
                                && call.getTargetOwner().isAssignableTo(CorePublisher.class)
                        || call.getTarget().getName().equals("sleep")
                        || Set.of("await", "join", "get", "acquire", "park")
                                        .contains(call.getTarget().getName())
                                && call.getTargetOwner()
                                        .getPackageName()
                                        .startsWith("java.util.concurrent")
                                && !call.getTargetOwner().getPackageName().endsWith("atomic")
                                && !call.getTargetOwner().getSimpleName().endsWith("Map"));
        noClasses().should().callMethodWhere(blocking).check(MAIN);
    }

    @Test
    void noClassTiesStateToAThread() {
        noClasses()
                .should()
                .dependOnClassesThat()
                .areAssignableTo(ThreadLocal.class)
                .check(MAIN);
    }
}
