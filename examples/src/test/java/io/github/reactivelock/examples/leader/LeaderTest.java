package io.github.reactivelock.examples.leader;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.examples.RunningExample;
import org.junit.jupiter.api.Test;

class LeaderTest {

    @Test
    void afterALeadersEndOrDeathTheNextLeadsInAHigherTerm() throws Exception {
        RunningExample leader = RunningExample.run(Leader.class, "--demo");

        assertThat(leader.exit()).as(leader.text()).isZero();
        assertThat(leader.text())
                .contains("told to resign: process-", "kill -9 process-")
                .contains("leaders=3 resigned=1 killed=2 ", " rising=true");
        assertThat(leader.text()).contains("act 1 in term ").doesNotContain("refused", "INFO");
    }

    @Test
    void aMachineWithoutEtcdIsToldWhatToInstall() throws Exception {
        RunningExample leader = RunningExample.runWithoutPath(Leader.class);

        assertThat(leader.exit()).as(leader.text()).isEqualTo(2);
        assertThat(leader.text()).contains("apt-get install etcd-server", "--etcd http://host:port");
    }

    @Test
    void aPasswordInAWrongEndpointIsNotRepeated() throws Exception {
        RunningExample leader = RunningExample.run(Leader.class, "--etcd", "http://user:secret@host:2379");

        assertThat(leader.exit()).as(leader.text()).isEqualTo(2);
        assertThat(leader.text()).contains("--etcd must be").doesNotContain("secret");
    }
}
