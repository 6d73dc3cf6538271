import { expect, test } from "bun:test";
import { Scans } from "../../src/console/parts/scans.ts";

/** Presses keys, each this long after the one before. Returns what the last one was, and its text. */
function press(keys: readonly string[], ms: number | readonly number[], scans = new Scans()) {
  const none = { repeat: false, ctrlKey: false, altKey: false, metaKey: false };
  let timeStamp = 1_000;
  const parts = keys.map((key, index) => {
    timeStamp += typeof ms === "number" ? ms : ms[index]!;
    return scans.press({ ...none, key, timeStamp });
  });
  return { last: parts.at(-1), parts, code: scans.ended };
}
const ending = (text: string, end = "Enter") => [...text, end];

test("eight characters at the speed of a scanner are a scan, ended by Enter or Tab", () => {
  for (const end of ["Enter", "Tab"]) {
    for (const code of ["4006381333931", "KOI 0042", "(01)04006381333931"]) {
      expect(press(ending(code, end), 10)).toMatchObject({ last: "scan", code });
    }
  }
  expect(press(ending("4006381"), 10)).toMatchObject({ last: undefined, code: "4006381" });
  expect(press([..."4006381333931", " "], 10)).toMatchObject({ last: "next", code: "" });
});

test("what a person types is no scan, however fast a few of its keys are", () => {
  for (const ms of [31, 60, 100, 250]) {
    expect(press(ending("4006381333931"), ms)).toMatchObject({ last: undefined, code: "" });
  }
  // Two keys at once, as fast typists press them.
  const uneven = Array.from({ length: 14 }, (_, index) => (index % 2 === 0 ? 5 : 59));
  expect(press(ending("4006381333931"), uneven)).toMatchObject({ last: undefined, code: "" });
  // The Enter of a person after something that came at once.
  const late = [...Array.from({ length: 13 }, () => 5), 400];
  expect(press(ending("4006381333931"), late)).toMatchObject({ last: undefined, code: "" });
});

test("a scan may have one slow key, and begins after what was typed before it", () => {
  const jitter = [300, 5, 5, 55, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5];
  expect(press(ending("4006381333931"), jitter)).toMatchObject({ last: "scan" });
  const typed = [300, 200, 150, ...Array.from({ length: 8 }, () => 4)];
  expect(press(ending("12KOI-0042"), typed)).toMatchObject({ last: "scan", code: "KOI-0042" });
});

test("a held key, and keys that are no characters, are no part of a scan", () => {
  const scans = new Scans();
  const held = { key: "1", ctrlKey: false, altKey: false, metaKey: false };
  for (let index = 0; index < 20; index += 1) {
    const timeStamp = 1_000 + index * 20;
    expect(scans.press({ ...held, timeStamp, repeat: index > 0 })).not.toBe("next");
  }
  expect(scans.press({ ...held, key: "Enter", timeStamp: 1_400, repeat: false })).toBeUndefined();
  for (const key of ["ArrowDown", "Backspace", "Escape"]) {
    expect(press([..."40063", key, ..."81333", "Enter"], 5)).toMatchObject({ last: undefined });
  }
  expect(press([..."KOI", "Shift", ..."E0042", "Enter"], 5)).toMatchObject({ code: "KOIE0042" });
});

test("a second end of the same scan is part of it, and a later Enter is not", () => {
  const scans = new Scans();
  const none = { repeat: false, ctrlKey: false, altKey: false, metaKey: false };
  press(ending("4006381333931"), 10, scans);
  const at = 1_000 + 14 * 10;
  expect(scans.press({ ...none, key: "Enter", timeStamp: at + 5 })).toBe("echo");
  expect(scans.press({ ...none, key: "Enter", timeStamp: at + 500 })).toBeUndefined();
});
