package io.github.reactivelock.benchmarks.report;

import io.github.reactivelock.benchmarks.side.Sides;
import java.awt.Color;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.knowm.xchart.BitmapEncoder;
import org.knowm.xchart.BitmapEncoder.BitmapFormat;
import org.knowm.xchart.CategoryChart;
import org.knowm.xchart.CategoryChartBuilder;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.internal.chartpart.Chart;
import org.knowm.xchart.style.Styler;
import org.knowm.xchart.style.markers.SeriesMarkers;

/** Plots of a report, as PNG: an SVG would be ten times the size, because it draws every letter. */
final class Plots {

    private static final int WIDTH = 860;
    private static final int HEIGHT = 420;
    private static final int POINTS = 201;
    private static final double MILLI = 1_000_000;

    private Plots() {}

    /** Writes the plots of the report, and returns their file names. */
    static List<String> write(Report report, Path directory) throws IOException {
        List<String> written = new ArrayList<>();
        Optional<CategoryChart> ratios = ratios(report);
        if (ratios.isPresent()) {
            written.add(save(ratios.get(), directory, "performance-ratios.png"));
        }
        for (Map.Entry<String, Map<String, long[]>> race : report.latencies().entrySet()) {
            if (race.getKey().endsWith("-fifo")) {
                written.add(save(
                        latencies(race.getKey(), race.getValue()), directory, "performance-" + race.getKey() + ".png"));
            }
        }
        return written;
    }

    /** How many times as fast as Redisson, in every race that it took part in. */
    private static Optional<CategoryChart> ratios(Report report) {
        List<Figure> figures = report.figures().stream()
                .filter(figure -> figure.kind().equals("ratio") && figure.peer().equals(Sides.REDISSON_ASYNC))
                .toList();
        if (figures.isEmpty()) {
            return Optional.empty();
        }
        CategoryChart chart = new CategoryChartBuilder()
                .width(WIDTH)
                .height(HEIGHT)
                .title("Times as fast as Redisson (logarithmic)")
                .build();
        plain(chart.getStyler());
        // Bars on a logarithmic axis have to begin somewhere.
        chart.getStyler().setYAxisLogarithmic(true).setYAxisMin(0.1);
        chart.getStyler().setXAxisLabelRotation(20);
        chart.getStyler().setLabelsVisible(true);
        chart.getStyler().setYAxisDecimalPattern("#,##0.0");
        chart.getStyler().setLegendVisible(false);
        chart.addSeries(
                "ours",
                figures.stream().map(Figure::scenario).toList(),
                figures.stream().map(Figure::value).toList());
        return Optional.of(chart);
    }

    private static XYChart latencies(String scenario, Map<String, long[]> sides) {
        XYChart chart = new XYChartBuilder()
                .width(WIDTH)
                .height(HEIGHT)
                .title(scenario + ": acquire + release (logarithmic)")
                .xAxisTitle("percentile")
                .yAxisTitle("ms")
                .build();
        plain(chart.getStyler());
        chart.getStyler().setYAxisLogarithmic(true).setLegendPosition(Styler.LegendPosition.InsideSE);
        chart.getStyler().setXAxisDecimalPattern("0");
        sides.forEach((side, sorted) -> {
            double[] percentiles = new double[POINTS];
            double[] millis = new double[POINTS];
            for (int i = 0; i < POINTS; i++) {
                percentiles[i] = 100.0 * i / (POINTS - 1);
                millis[i] = Math.max(0.001, Round.at(sorted, percentiles[i] / 100) / MILLI);
            }
            chart.addSeries(side, percentiles, millis).setMarker(SeriesMarkers.NONE);
        });
        return chart;
    }

    private static void plain(Styler styler) {
        styler.setChartBackgroundColor(Color.WHITE);
        styler.setPlotBorderVisible(false);
    }

    private static String save(Chart<?, ?> chart, Path directory, String name) throws IOException {
        BitmapEncoder.saveBitmap(chart, directory.resolve(name).toString(), BitmapFormat.PNG);
        return name;
    }
}
