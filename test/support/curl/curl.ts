import { appendFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";

/** The part of curl that the examples and the documentation use. */

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    fail: { type: "boolean", short: "f" },
    silent: { type: "boolean", short: "s" },
    "show-error": { type: "boolean", short: "S" },
    "no-buffer": { type: "boolean", short: "N" },
    include: { type: "boolean", short: "i" },
    request: { type: "string", short: "X" },
    header: { type: "string", short: "H", multiple: true },
    data: { type: "string", short: "d" },
    output: { type: "string", short: "o" },
    "dump-header": { type: "string", short: "D" },
    "write-out": { type: "string", short: "w" },
    "max-time": { type: "string" },
  },
});

function write(target: string, content: string | Uint8Array): void {
  if (target === "-") process.stdout.write(content);
  else if (target !== "/dev/null") appendFileSync(target, content);
}

const headers = new Headers();
for (const line of values.header ?? []) {
  const [, name = "", value = ""] = /^([^:]+):\s*(.*)$/s.exec(line) ?? [];
  headers.append(name, value);
}
const { data, output = "-", "dump-header": dumped } = values;
if (output !== "-" && output !== "/dev/null") writeFileSync(output, "");
if (dumped !== undefined && dumped !== "-") writeFileSync(dumped, "");
try {
  const response = await fetch(positionals[0]!, {
    method: values.request ?? (data === undefined ? "GET" : "POST"),
    headers,
    redirect: "manual",
    ...(data === undefined ? {} : { body: data }),
    ...(values["max-time"]
      ? { signal: AbortSignal.timeout(Number(values["max-time"]) * 1_000) }
      : {}),
  });
  const headersTo = values.include ? output : dumped;
  if (headersTo !== undefined) {
    const lines = [...response.headers].map(([name, value]) => `${name}: ${value}\r\n`);
    write(headersTo, `HTTP/1.1 ${response.status} ${response.statusText}\r\n${lines.join("")}\r\n`);
  }
  if (values.fail && response.status >= 400) process.exit(22);
  for await (const piece of response.body ?? []) write(output, piece);
  const after = values["write-out"]?.replaceAll("%{http_code}", String(response.status));
  if (after !== undefined) process.stdout.write(after);
} catch (error) {
  const isLate = (error as Error).name === "TimeoutError";
  if (!values.silent || values["show-error"]) console.error(`curl: ${(error as Error).message}`);
  process.exitCode = isLate ? 28 : 7;
}
