import { describe, expect, test } from "bun:test";
import type { FinishedRequest } from "../../src/domain/running/requests.ts";
import { createRequestLog, type LoggedRequests } from "../../src/http/pipeline/request-log.ts";
import { startTestService } from "../support/service.ts";

function collect(format: "json" | "text" = "json") {
  const lines: string[] = [];
  let dropped = 0;
  return {
    lines,
    dropped: () => dropped,
    target: {
      format,
      addLine: (line: string) => void lines.push(line),
      dropLine: () => void dropped++,
    },
  };
}

/** The fields of a line of JSON. The line must be one line. */
function parsed(line: string): Record<string, unknown> {
  expect(line.indexOf("\n")).toBe(line.length - 1);
  return JSON.parse(line);
}

const traceId = "0af7651916cd43dd8448eb211c80319c";
const headers = { traceparent: `00-${traceId}-b7ad6b7169203331-01` };

test("with all, each request is one line with id, operation, status, duration, bytes, key and trace", async () => {
  const { lines, target } = collect();
  const flags = { "log-requests": "all" };
  const service = await startTestService("sqlite", flags, {}, { requestLines: target });
  await service.addPets({ petId: 1n });
  const { id, text: key } = await service.issueKey();
  const answers = [
    await service.call("GET", "/inventory/1", { key, headers }),
    await service.call("GET", "/inventory/99", { key }),
    await service.call("GET", "/nothing\u202e?q=%22,%0a", {}),
  ];
  const common = { level: "info", event: "request", method: "GET" };
  const expected = [
    { ...common, operation: "getInventory", keyId: id, traceId },
    { ...common, operation: "getInventory", keyId: id },
    common,
  ];
  expect(lines.map(parsed)).toEqual(
    answers.map((answer, at) => ({
      ...expected[at],
      at: expect.stringMatching(/^\d{4}-.*Z$/),
      requestId: answer.headers.get("X-Request-Id"),
      status: answer.status,
      bytes: Buffer.byteLength(answer.text),
      durationMs: expect.any(Number),
    })),
  );
  for (const line of lines) expect(line).not.toContain(key);
  await service.stop();
});

const finished = (status: number): FinishedRequest => ({
  requestId: "req_1",
  operation: "listInventory",
  method: "GET",
  status,
  startedMs: 0,
  durationMs: 1.23456,
  bytes: 10,
  keyId: "key_1",
  errorCode: undefined,
  failure: undefined,
  headers: new Headers(),
  trace: undefined,
});

/** How many lines a number of requests cause. */
function linesOf(requests: LoggedRequests, status: number, count: number) {
  const { lines, dropped, target } = collect();
  const observe = createRequestLog(requests, target);
  for (let sent = 0; sent < count; sent++) observe?.(finished(status));
  return { lines: lines.length, dropped: dropped() };
}

describe("the request log", () => {
  test("with off has no lines, with errors those of 400 and above, with sampled also some others", () => {
    expect(linesOf("off", 500, 10)).toEqual({ lines: 0, dropped: 0 });
    expect(linesOf("errors", 304, 1_000)).toEqual({ lines: 0, dropped: 0 });
    expect(linesOf("errors", 404, 10)).toEqual({ lines: 10, dropped: 0 });
    expect(linesOf("sampled", 503, 10)).toEqual({ lines: 10, dropped: 0 });
    expect(linesOf("sampled", 200, 1_000)).toEqual({ lines: 10, dropped: 0 });
  });

  test("of errors has a limit per second, and counts what is beyond", () => {
    const { lines, dropped } = linesOf("errors", 401, 10_000);
    expect(lines + dropped).toBe(10_000);
    // The test may run across the end of a second, or of two on a busy machine.
    expect(lines).toBeLessThanOrEqual(600);
    expect(lines).toBeGreaterThanOrEqual(200);
  });

  test("as text has the same fields, and no text of a client", () => {
    const { lines, target } = collect("text");
    createRequestLog("all", target)?.({ ...finished(200), method: "X\n\x1b[2J" });
    expect(lines[0]).toMatch(
      /^\S+Z INFO {2}request requestId=req_1 operation=listInventory method=other status=200 durationMs=1\.235 bytes=10 keyId=key_1\n$/,
    );
  });
});
