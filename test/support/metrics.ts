/** One metric of an exposition, with the values of its series by their text, such as `a{b="c"}`. */
export interface ParsedFamily {
  readonly kind: string;
  readonly help: string;
  readonly samples: ReadonlyMap<string, number>;
}

export type Exposition = ReadonlyMap<string, ParsedFamily>;

const samplePattern =
  /^([a-zA-Z_:][\w:]*)(?:\{((?:[a-zA-Z_]\w*="(?:[^"\\\n]|\\[\\"n])*",?)*)\})? (\S+)$/;

/**
 * Reads the Prometheus text format, version 0.0.4. Strict: every metric has its help, its type and
 * then its samples, in one place; no series is repeated; histograms are complete and cumulative.
 */
export function parseExposition(text: string): Exposition {
  if (!text.endsWith("\n")) throw new Error("the last line does not end");
  const families = new Map<string, ParsedFamily & { samples: Map<string, number> }>();
  let help: string[] | undefined;
  let current: string | undefined;
  for (const line of text.slice(0, -1).split("\n")) {
    const comment = /^# (HELP|TYPE) ([a-zA-Z_:][\w:]*) (.+)$/.exec(line);
    if (comment) {
      const [, what, name, rest] = comment as unknown as [string, string, string, string];
      if (what === "HELP") help = [name, rest];
      else {
        if (help?.[0] !== name) throw new Error(`no help before the type of ${name}`);
        if (families.has(name)) throw new Error(`${name} appears twice`);
        if (!["counter", "gauge", "histogram"].includes(rest)) throw new Error(`type ${rest}`);
        families.set(name, { kind: rest, help: help[1]!, samples: new Map() });
        current = name;
      }
      continue;
    }
    const sample = samplePattern.exec(line);
    if (!sample) throw new Error(`not a line of the format: ${line}`);
    const [, name, labels = "", number] = sample as unknown as string[];
    const family = families.get(current ?? "");
    if (!family || baseOf(name!, family.kind) !== current) throw new Error(`out of place: ${line}`);
    const series = labels === "" ? name! : `${name}{${labels}}`;
    if (family.samples.has(series)) throw new Error(`${series} appears twice`);
    const value = number === "+Inf" ? Infinity : Number(number);
    if (Number.isNaN(value)) throw new Error(`not a number: ${line}`);
    family.samples.set(series, value);
  }
  for (const [name, family] of families) if (family.kind === "histogram") check(name, family);
  return families;
}

function baseOf(name: string, kind: string): string {
  return kind === "histogram" ? name.replace(/_(?:bucket|sum|count)$/, "") : name;
}

/** Buckets ascend, the last one is infinite and equals the count, and there is a sum. */
function check(name: string, { samples }: ParsedFamily): void {
  let previous = { bound: -Infinity, value: 0 };
  for (const [series, value] of samples) {
    const bucket = /^\w+_bucket\{(?:(.*),)?le="([^"]+)"\}$/.exec(series);
    if (!bucket) continue;
    const bound = bucket[2] === "+Inf" ? Infinity : Number(bucket[2]);
    if (bound <= previous.bound || value < previous.value) throw new Error(`order of ${series}`);
    previous = { bound, value };
    if (bound !== Infinity) continue;
    const labels = bucket[1] === undefined ? "" : `{${bucket[1]}}`;
    if (samples.get(`${name}_count${labels}`) !== value) throw new Error(`count of ${series}`);
    if (samples.get(`${name}_sum${labels}`) === undefined) throw new Error(`sum of ${series}`);
    previous = { bound: -Infinity, value: 0 };
  }
  if (previous.bound !== -Infinity) throw new Error(`${name} has no infinite bucket`);
}

/** The values of one scrape, by series. */
export async function scrape(url: string | undefined): Promise<Exposition> {
  const response = await fetch(url!);
  if (response.status !== 200) throw new Error(`status ${response.status}`);
  return parseExposition(await response.text());
}

/** The value of a series, such as `petstore_streams_open` or `petstore_webhooks{state="paused"}`. */
export function sampleOf(exposition: Exposition, series: string): number | undefined {
  for (const { samples } of exposition.values()) {
    const value = samples.get(series);
    if (value !== undefined) return value;
  }
  return undefined;
}
