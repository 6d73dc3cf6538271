import { expect, test } from "bun:test";
import { parseBatch, readChanges } from "../../src/http/api/change-list.ts";

/** Many times what any of these bodies takes. A method with quadratic time would take seconds. */
const readMsMax = 1_000;

test("the time to read a body of 256 KiB does not depend on its content", () => {
  const full = (part: string) => part.repeat(Math.floor(262_000 / part.length));
  const change = '{"petId":1,"delta":1.0}';
  const bodies = [
    `{"changes":[${full("0,")}0]}`,
    `{"changes":[${full("{},")}0]}`,
    `{"x":[${full("0,")}1.0],"changes":[${change}]}`,
    `{"x":"${full('\\"')}","changes":[${change}]}`,
    `{${full('"a":0,')}"changes":[${change}]}`,
    `{"changes":[{${full('"petId":1,')}"delta":1}]}`,
    `{"changes":[{"petId":${full("1")},"delta":1}]}`,
    `{"changes":[{"petId":1,"reason":"${full("x")}","delta":1}]}`,
    `{"changes":[{"petId":1,"reason":${full("[")}${full("]")},"delta":1}]}`,
  ];
  for (const body of bodies) {
    const times = Array.from({ length: 5 }, () => {
      const begunAt = performance.now();
      try {
        readChanges(parseBatch(body));
      } catch {
        // Most of these are invalid.
      }
      return performance.now() - begunAt;
    });
    expect([body.slice(0, 40), Math.min(...times) < readMsMax]).toEqual([body.slice(0, 40), true]);
  }
});
