package io.github.reactivelock.testservers;

import com.github.dockerjava.api.model.Bind;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.wait.strategy.Wait;
import org.testcontainers.utility.DockerImageName;

/** A server in a Docker container of its own, on the same port outside as inside. */
final class ServerContainer implements Running {

    private final GenericContainer<?> container;

    private ServerContainer(GenericContainer<?> container) {
        this.container = container;
    }

    static ServerContainer start(String image, Path directory, int port, List<String> command) {
        GenericContainer<?> container = container(image, directory, command).waitingFor(Wait.forListeningPort());
        container.setPortBindings(List.of("127.0.0.1:" + port + ":" + port));
        container.addExposedPort(port);
        container.start();
        return new ServerContainer(container);
    }

    /** On the network of the host, for servers that must reach one another. Does not wait until the port answers. */
    static ServerContainer startOnHost(String image, Path directory, List<String> command) {
        GenericContainer<?> container = container(image, directory, command).withNetworkMode("host");
        container.start();
        return new ServerContainer(container);
    }

    private static GenericContainer<?> container(String image, Path directory, List<String> command) {
        try {
            Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxrwxrwx"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return new GenericContainer<>(DockerImageName.parse(image))
                .withCommand(command.toArray(String[]::new))
                .withCreateContainerCmdModifier(create -> {
                    var host = create.getHostConfig();
                    if (host != null) {
                        host.withBinds(Bind.parse(directory + ":" + directory));
                    }
                });
    }

    @Override
    public boolean isAlive() {
        return container.isRunning();
    }

    @Override
    public void stop() {
        container.getDockerClient().stopContainerCmd(container.getContainerId()).exec();
        container.stop();
    }

    @Override
    public void kill() {
        container.stop();
    }

    @Override
    public void pause() {
        container
                .getDockerClient()
                .pauseContainerCmd(container.getContainerId())
                .exec();
    }

    @Override
    public void resume() {
        container
                .getDockerClient()
                .unpauseContainerCmd(container.getContainerId())
                .exec();
    }
}
