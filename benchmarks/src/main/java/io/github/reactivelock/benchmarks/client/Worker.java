package io.github.reactivelock.benchmarks.client;

import io.github.reactivelock.benchmarks.side.Side;
import io.github.reactivelock.benchmarks.side.Sides;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;

/**
 * A client process. It reads requests, one a line, and answers each with one line: {@code ok} and the result, or {@code
 * failed}. It ends when its input does, so it cannot outlive the coordinator.
 */
final class Worker {

    private final Map<String, Side> open = new HashMap<>();

    private Worker() {}

    /**
     * Serves requests until there are no more.
     *
     * @param args none
     * @throws IOException if the coordinator is gone
     */
    public static void main(String[] args) throws IOException {
        Worker worker = new Worker();
        PrintStream answers = System.out;
        // The output of a library must not look like an answer.
        System.setOut(System.err);
        BufferedReader requests = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String request = requests.readLine(); request != null; request = requests.readLine()) {
            answers.println(worker.answer(request));
            answers.flush();
        }
        System.exit(0);
    }

    private String answer(String request) {
        try {
            return "ok " + serve(request.split(" ", -1));
        } catch (Exception e) {
            e.printStackTrace();
            return "failed "
                    + String.valueOf(e.getCause() == null ? e : e.getCause()).replace('\n', ' ');
        }
    }

    private String serve(String[] request) throws InterruptedException {
        String side = request[1];
        return switch (request[0]) {
            case "open" -> {
                open.put(side, Sides.open(side, request[2]));
                // Some sides connect only now.
                new Turn(opened(side), new Load(1, 1, Load.Note.COUNT), System.nanoTime(), 0).run();
                yield "";
            }
            case "run" -> turn(request).run().encode();
            case "profile" -> Profiler.shares(turn(request));
            case "hold" -> Holding.keys(opened(side), Integer.parseInt(request[2]));
            case "wait" -> Holding.waiters(opened(side), Integer.parseInt(request[2]));
            case "serve" -> Holding.served(opened(side), Integer.parseInt(request[2]));
            case "cpu" -> Long.toString(Turn.cpuTime());
            case "close" -> {
                opened(side).close();
                open.remove(side);
                yield "";
            }
            default -> throw new IllegalArgumentException("unknown request " + request[0]);
        };
    }

    private Turn turn(String[] request) {
        Load load = new Load(Integer.parseInt(request[2]), Integer.parseInt(request[3]), Load.Note.valueOf(request[4]));
        return new Turn(opened(request[1]), load, Long.parseLong(request[5]), Long.parseLong(request[6]));
    }

    private Side opened(String name) {
        Side side = open.get(name);
        if (side == null) {
            throw new IllegalStateException("'" + name + "' is not open");
        }
        return side;
    }
}
