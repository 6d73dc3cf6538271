import { describe, expect, test } from "bun:test";
import { type DeliveryState, initialState, nextStep } from "../../src/domain/webhooks/steps.ts";
import { webhookNamed } from "../support/webhooks.ts";

const webhook = webhookNamed("wh_1", { cursor: { epoch: "e", seq: 5 } });
const moment = { now: 1_000, monotonicMs: 100, headSeq: 9, leaseLeftMinMs: 20 };
const position = { epoch: "e", seq: 7 };
const pending = {
  message: { id: "msg_1", body: "{}", firstSeq: 7, lastSeq: 7, changes: 1 },
  end: position,
};

/** A delivery that has read its webhook and has its lease, with changes. */
function stepOf(changes: Partial<DeliveryState>, later: Partial<typeof moment> = {}) {
  const state = { ...initialState(webhook), begunWith: webhook, isLocated: true, leaseEndsAt: 500 };
  return nextStep({ ...state, ...changes }, { ...moment, ...later });
}

const news = { waitMs: Infinity };
const ending = { state: "paused", reason: "three days" } as const;

describe("a delivery", () => {
  test("locates its cursor, then reads rows, then sends them", () => {
    expect(stepOf({ isLocated: false, pending })).toBe("locate");
    expect(stepOf({})).toBe("scan");
    expect(stepOf({ pending })).toBe("attempt");
  });

  test("waits for rows at the end of the ledger, or if it has seen all of them", () => {
    expect(stepOf({}, { headSeq: 5 })).toEqual(news);
    expect(stepOf({ hasRows: false })).toEqual(news);
    expect(stepOf({ hasRows: false, pending })).toBe("attempt");
  });

  test("does nothing before its progress is read, after its end, and without enough of its lease", () => {
    expect(stepOf({ begunWith: undefined, pending })).toEqual(news);
    expect(stepOf({ ending, pending })).toEqual(news);
    expect(stepOf({ leaseEndsAt: 120, pending })).toBe("attempt");
    expect(stepOf({ leaseEndsAt: 119, pending })).toEqual(news);
  });

  test("waits for the next attempt by the clock that reaches it first", () => {
    const failing = (nextAttemptAt: number, retryAt: number) =>
      stepOf({ progress: { ...webhook, nextAttemptAt }, retryAt, pending });
    expect(failing(1_030, 140)).toEqual({ waitMs: 30 });
    expect(failing(1_040, 130)).toEqual({ waitMs: 30 });
    expect(failing(1_000, 130)).toBe("attempt");
    expect(failing(9_000, 100)).toBe("attempt");
  });

  test("leaves once it is released, whatever else there is to do", () => {
    expect(stepOf({ isReleased: true, pending })).toBe("leave");
    expect(stepOf({ isReleased: true, begunWith: undefined })).toBe("leave");
    expect(stepOf({ isReleased: true, ending, saveAt: 0 })).toBe("leave");
  });
});
