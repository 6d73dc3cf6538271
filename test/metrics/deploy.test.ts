import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { dashboard } from "../../scripts/dashboard.ts";
import { backupAgeMsMax, drillAgeMsMax, endingMs } from "../../src/domain/operations/attention.ts";
import { events } from "../../src/domain/running/events.ts";
import { dayMs } from "../../src/domain/values/times.ts";
import { type Exposition, scrape } from "../support/metrics.ts";
import { type MetricUse, metricsIn } from "../support/promql.ts";
import { engines, startTestService, type TestService } from "../support/service.ts";

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");

interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string };
}

const parsed = JSON.parse(read("deploy/grafana/petstore.json"));
const panels = parsed.panels as { title: string; targets?: { expr: string }[] }[];
const rules = Bun.YAML.parse(read("deploy/prometheus/alerts.yml")) as {
  groups: { rules: Alert[] }[];
};
const alerts = rules.groups.flatMap((group) => group.rules);
const queries = [
  ...panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)),
  ...alerts.map(({ expr }) => expr),
];

let services: TestService[];
/** What real services export, by name. Both engines together. */
let exported: Exposition;
beforeAll(async () => {
  services = await Promise.all(
    engines.map((engine) => startTestService(engine, { "metrics-port": "0" })),
  );
  const scrapes = await Promise.all(services.map(({ metricsUrl }) => scrape(metricsUrl)));
  exported = new Map(scrapes.flatMap((one) => [...one]));
});
afterAll(() => Promise.all(services.map((service) => service.stop())));

/** The names that Prometheus itself adds. */
const ofPrometheus = { metrics: ["up"], labels: ["job", "instance"] };

/** The metric that a name in a query belongs to: `a_bucket` belongs to the histogram `a`. */
function familyOf(name: string): string | undefined {
  const base = name.replace(/_(?:bucket|sum|count)$/, "");
  if (exported.get(base)?.kind === "histogram" && base !== name) return base;
  return exported.has(name) && exported.get(name)!.kind !== "histogram" ? name : undefined;
}

/** Labels of a use that no series of the metric has. */
function unknownLabels({ name, labels }: MetricUse): string[] {
  const { samples } = exported.get(familyOf(name)!)!;
  // A gauge without a value yet has no series to compare with.
  if (samples.size === 0) return [];
  const known = [...samples.keys()].flatMap((series) =>
    [...series.matchAll(/(\w+)="/g)].map((match) => match[1]!),
  );
  return labels.filter((one) => !known.includes(one) && !ofPrometheus.labels.includes(one));
}

test("every metric and every label in the dashboard and the alerts is exported by a running service", () => {
  expect(queries.length).toBeGreaterThan(60);
  for (const query of queries) {
    const uses = metricsIn(query).filter(({ name }) => !ofPrometheus.metrics.includes(name));
    const missing = uses.filter(({ name }) => familyOf(name) === undefined);
    expect({ query, missing }).toEqual({ query, missing: [] });
    const unknown = uses.flatMap(unknownLabels);
    expect({ query, unknown }).toEqual({ query, unknown: [] });
  }
});

test("every metric is on the dashboard or in an alert", () => {
  const used = new Set(
    queries.flatMap((query) => metricsIn(query).map(({ name }) => familyOf(name))),
  );
  expect([...exported.keys()].filter((name) => !used.has(name))).toEqual([]);
});

test("every event that an alert waits for is logged by the service", () => {
  const named = queries.flatMap((query) =>
    [...query.matchAll(/\bevent=~?"([^"]+)"/g)].flatMap((match) => match[1]!.split("|")),
  );
  expect(named).toContain("key banned");
  expect(named.filter((event) => !(event in events))).toEqual([]);
});

test("every alert has a severity, a summary, and a row that says what to do", () => {
  const page = read("docs/metrics.md");
  const documented = [...page.matchAll(/^\| `(Petstore\w+)` \|.+\|.+\|$/gm)].map((one) => one[1]!);
  expect(documented).toEqual(alerts.map(({ alert }) => alert));
  for (const { labels, annotations } of alerts) {
    expect(labels.severity).toMatch(/^(critical|warning|info)$/);
    expect(annotations.summary).toMatch(/\.$/);
  }
});

test("every panel of the dashboard has a description of its own", () => {
  const panels = parsed.panels.filter(({ type }: { type: string }) => type !== "row");
  const descriptions = panels.map((one: { description?: string }) => one.description ?? "");
  expect(descriptions.filter((text: string) => !/^[A-Z1].*\.$/.test(text))).toEqual([]);
  expect(new Set(descriptions).size).toBe(panels.length);
});

test("the alerts and the documentation warn when the doctor and the console do", () => {
  const [drill, ending] = [drillAgeMsMax, endingMs].map((ms) => ms / dayMs);
  const exprOf = (name: string) => alerts.find(({ alert }) => alert === name)!.expr;
  expect(exprOf("PetstoreDrillOld")).toContain(` > ${drill} * 86400 and `);
  expect(exprOf("PetstoreCertificateExpires")).toEndWith(` < ${ending} * 86400`);
  expect(exprOf("PetstoreBackupOld")).toEndWith(
    " > min by (job) (petstore_backup_age_max_seconds)",
  );
  const hours = `${backupAgeMsMax(undefined) / 3_600_000} hours without`;
  const named = {
    operating: [`more than ${drill} days`],
    backup: [`after ${drill} days`],
    doctor: [
      hours,
      `more than ${drill} days`,
      `key expires within ${ending} days`,
      `It expires within ${ending} days`,
    ],
    metrics: [hours, `for ${drill} days`, `expires within ${ending} days`],
  };
  for (const [page, texts] of Object.entries(named)) {
    const text = read(`docs/${page}.md`).replace(/\s+/g, " ");
    expect([page, texts.filter((one) => !text.includes(one))]).toEqual([page, []]);
  }
});

test("the dashboard is up to date", () => {
  expect(parsed).toEqual(JSON.parse(JSON.stringify(dashboard())));
});
