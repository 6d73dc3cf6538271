import { type Panel, rows } from "./dashboard-panels.ts";

/**
 * Writes deploy/grafana/petstore.json, a dashboard that Grafana imports, from the panels in
 * scripts/dashboard-panels.ts. With --check it writes nothing and fails if the file differs.
 */

const selector = 'job="petstore", instance=~"$instance"';
const datasource = { type: "prometheus", uid: "$" + "{datasource}" };
const width = 8;
const height = 7;
const perLine = 24 / width;

function panelsOf(): unknown[] {
  const made: Record<string, unknown>[] = [];
  let y = 0;
  for (const [title, panels] of Object.entries(rows)) {
    made.push({
      type: "row",
      title,
      gridPos: { x: 0, y, w: 24, h: 1 },
      collapsed: false,
      panels: [],
    });
    y += 1;
    for (const [at, one] of panels.entries()) {
      const line = Math.floor(at / perLine);
      const gridPos = { x: (at % perLine) * width, y: y + line * height, w: width, h: height };
      made.push(panelAt(one, gridPos));
    }
    y += Math.ceil(panels.length / perLine) * height;
  }
  return made.map((one, at) => ({ id: at + 1, ...one }));
}

function panelAt(
  { title, unit, description, queries }: Panel,
  gridPos: object,
): Record<string, unknown> {
  const type = unit === "dateTimeFromNow" ? "stat" : "timeseries";
  const targets = Object.entries(queries).map(([legendFormat, query], at) => ({
    refId: String.fromCharCode(65 + at),
    expr: query.replaceAll("$at", selector),
    legendFormat,
  }));
  return {
    type,
    title,
    description,
    datasource,
    gridPos,
    fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
    targets,
  };
}

export function dashboard(): object {
  return {
    title: "Pet Store Inventory",
    uid: "petstore-inventory",
    tags: ["petstore"],
    schemaVersion: 39,
    editable: true,
    refresh: "30s",
    time: { from: "now-6h", to: "now" },
    templating: {
      list: [
        { name: "datasource", label: "Data source", type: "datasource", query: "prometheus" },
        {
          name: "instance",
          label: "Instance",
          type: "query",
          datasource,
          query: 'label_values(petstore_build_info{job="petstore"}, instance)',
          includeAll: true,
          multi: true,
          current: { text: "All", value: "$__all" },
          refresh: 2,
        },
      ],
    },
    panels: panelsOf(),
  };
}

if (import.meta.main) {
  const file = Bun.file(new URL("../deploy/grafana/petstore.json", import.meta.url).pathname);
  if (!process.argv.includes("--check")) {
    await Bun.write(file, `${JSON.stringify(dashboard(), null, 2)}\n`);
  } else if (!Bun.deepEquals(await file.json(), dashboard())) {
    console.error("deploy/grafana/petstore.json differs from scripts/dashboard.ts; run it");
    process.exitCode = 1;
  }
}
