import { expect, test } from "bun:test";
import { expose } from "../../src/metrics/exposition.ts";
import { counter, gauge, histogram } from "../../src/metrics/metric.ts";
import { createRegistry } from "../../src/metrics/registry.ts";
import { metrics } from "../../src/metrics/table.ts";
import { parseExposition } from "../support/metrics.ts";
import { metricsIn } from "../support/promql.ts";

test("metrics are exposed in the order of the table, with their help, type, labels and buckets", () => {
  const table = {
    sizes: histogram("sizes", "Sizes.", { bounds: [1, 2.5], labels: ["kind"] }),
    asked: counter("asked_total", 'A line\nfeed, a "quote" and a \\.', { labels: ["who", "why"] }),
    level: gauge("level", "A level."),
    unused: gauge("unused", "Nobody sets it."),
  };
  const registry = createRegistry(Object.values(table));
  registry.counter(table.asked, 'a\\"b"\n', "é").value += 3;
  registry.read(table.level, () => -0.5);
  const sizes = registry.histogram(table.sizes, "x");
  for (const size of [1, 1.5, 2.5, 2.6, 1e9]) sizes.observe(size);
  expect(expose(registry.families)).toBe(`# HELP sizes Sizes.
# TYPE sizes histogram
sizes_bucket{kind="x",le="1"} 1
sizes_bucket{kind="x",le="2.5"} 3
sizes_bucket{kind="x",le="+Inf"} 5
sizes_sum{kind="x"} 1000000007.6
sizes_count{kind="x"} 5
# HELP asked_total A line\\nfeed, a "quote" and a \\\\.
# TYPE asked_total counter
asked_total{who="a\\\\\\"b\\"\\n",why="é"} 3
# HELP level A level.
# TYPE level gauge
level -0.5
`);
});

test("a gauge without a value has no sample, and a series cannot be created twice", () => {
  const level = gauge("level", "A level.", { labels: ["of"] });
  const registry = createRegistry([level]);
  const series = registry.gauge(level, "a");
  expect(parseExposition(expose(registry.families)).get("level")!.samples.size).toBe(0);
  series.value = Infinity;
  expect(expose(registry.families)).toEndWith('level{of="a"} +Inf\n');
  expect(() => registry.gauge(level, "a")).toThrow("exists");
  expect(() => registry.gauge(level)).toThrow("1 labels");
});

test("names follow the conventions: a prefix, base units, and _total on counters only", () => {
  for (const { name, kind, help } of Object.values(metrics)) {
    expect(name).toMatch(/^(petstore|process)_[a-z_]+$/);
    expect([name, name.endsWith("_total")]).toEqual([name, kind === "counter"]);
    expect(name).not.toMatch(/_(ms|milliseconds|micro|minutes|kb|mb)\b/);
    expect(help).toMatch(/^[A-Z0-9].*\.$/);
  }
});

test.each([
  ["a series that appears twice", "# HELP a A.\n# TYPE a gauge\na 1\na 2\n"],
  ["a metric that appears twice", "# HELP a A.\n# TYPE a gauge\n# HELP a A.\n# TYPE a gauge\n"],
  ["a type without a help", "# TYPE a gauge\na 1\n"],
  ["a sample of another metric", "# HELP a A.\n# TYPE a gauge\nb 1\n"],
  ["a quote that is not escaped", '# HELP a A.\n# TYPE a gauge\na{b="c"d"} 1\n'],
  ["a value that is not a number", "# HELP a A.\n# TYPE a gauge\na undefined\n"],
  [
    "buckets that fall",
    '# HELP a A.\n# TYPE a histogram\na_bucket{le="1"} 2\na_bucket{le="+Inf"} 1\na_sum 1\na_count 1\n',
  ],
  [
    "a count that differs",
    '# HELP a A.\n# TYPE a histogram\na_bucket{le="+Inf"} 1\na_sum 1\na_count 2\n',
  ],
])("the parser of the tests rejects %s", (_what, text) => {
  expect(() => parseExposition(text)).toThrow();
});

test("the metrics of a query are found, and its functions, labels and ranges are not", () => {
  const query = `sum by (operation, le) (rate(a_bucket{status=~"5..", job="x{y}"}[$__rate_interval]))
    / on (instance) group_left (version) max(b_total) > 0.5 and time() - c offset 5m > 3600`;
  const groups = ["operation", "le", "instance"];
  expect(metricsIn(query)).toEqual([
    { name: "a_bucket", labels: ["status", "job", ...groups] },
    { name: "b_total", labels: groups },
    { name: "c", labels: groups },
  ]);
});
