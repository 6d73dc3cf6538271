import { expect, test } from "bun:test";
import { parseTraceParent, traceIdOf } from "../../src/domain/values/traceparent.ts";

const traceId = "0af7651916cd43dd8448eb211c80319c";
const parentId = "b7ad6b7169203331";

test("a valid traceparent gives the trace, the parent and whether it is sampled", () => {
  const parsed = { traceId, parentId };
  const sampled = { ...parsed, isSampled: true };
  expect(parseTraceParent(`00-${traceId}-${parentId}-01`)).toEqual(sampled);
  expect(parseTraceParent(`00-${traceId}-${parentId}-00`)).toEqual({ ...parsed, isSampled: false });
  // Flags that are not defined yet are ignored, and so are the further fields of a later version.
  expect(parseTraceParent(`00-${traceId}-${parentId}-ff`)).toEqual(sampled);
  expect(parseTraceParent(`cc-${traceId}-${parentId}-01`)).toEqual(sampled);
  expect(parseTraceParent(`cc-${traceId}-${parentId}-01-what-the-future`)).toEqual(sampled);
  expect(traceIdOf(new Headers({ traceparent: `00-${traceId}-${parentId}-00` }))).toBe(traceId);
});

test("a malformed traceparent is ignored", () => {
  const malformed = [
    "",
    "00",
    `00-${traceId}-${parentId}`,
    `00-${traceId}-${parentId}-1`,
    `00-${traceId}-${parentId}-01-more`,
    `00-${traceId}-${parentId}-01-`,
    `00-${traceId}-${parentId}-0x`,
    `cc-${traceId}-${parentId}-01.what`,
    `ff-${traceId}-${parentId}-01`,
    `0-${traceId}-${parentId}-01`,
    `00-${traceId.toUpperCase()}-${parentId}-01`,
    `00-${"0".repeat(32)}-${parentId}-01`,
    `00-${traceId}-${"0".repeat(16)}-01`,
    `00-${traceId}0-${parentId}-01`,
    `00-${traceId}-${parentId}-01, 00-${traceId}-${parentId}-01`,
    ` 00-${traceId}-${parentId}-01`,
    `00-${traceId}-${parentId}-01\n`,
  ];
  for (const text of malformed)
    expect({ text, is: parseTraceParent(text) }).toEqual({ text, is: undefined });
  expect(parseTraceParent(null)).toBeUndefined();
  expect(traceIdOf(new Headers())).toBeUndefined();
});
