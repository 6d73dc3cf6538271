import { afterEach, expect, test } from "bun:test";
import {
  closeSync,
  constants,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLogWriter } from "../../src/log/writer.ts";
import { pass, until } from "../support/until.ts";

const opened: number[] = [];
const folder = mkdtempSync(join(tmpdir(), "petstore-log-"));
afterEach(() => {
  for (const fd of opened.splice(0)) closeSync(fd);
});
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

function open(path: string, flags: string | number): number {
  const fd = openSync(path, flags);
  opened.push(fd);
  return fd;
}

function createWriter(fd: number, waitingMax = 1_000_000) {
  const reported: number[] = [];
  const writer = createLogWriter(fd, waitingMax, (lines) => {
    reported.push(lines);
    writer.add(`dropped ${lines}\n`, 0);
  });
  return { writer, reported };
}

test("lines are written in order, and a flush waits for all of them", async () => {
  const path = join(folder, "all");
  const { writer } = createWriter(open(path, "w"));
  const lines = Array.from({ length: 5_000 }, (_, at) => `line ${at} ${"é".repeat(at % 50)}\n`);
  for (const [at, line] of lines.entries()) {
    writer.add(line, at % 3);
    // Some lines are added while others are written.
    if (at % 500 === 0) await pass(1);
  }
  await writer.flush(5_000);
  expect(readFileSync(path, "utf8")).toBe(lines.join(""));
  expect(writer.dropped()).toBe(0);
});

test("a pipe that nobody reads makes no caller wait, and what does not fit is dropped, counted and reported", async () => {
  const path = join(folder, "pipe");
  Bun.spawnSync(["mkfifo", path]);
  const reading = open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  // Not blocking, as a supervisor may leave it: a full pipe then fails with EAGAIN.
  const { writer, reported } = createWriter(
    open(path, constants.O_WRONLY | constants.O_NONBLOCK),
    100_000,
  );
  const sent = 3_000;
  for (let at = 0; at < sent; at++) {
    writer.add(`${String(at).padStart(99)}\n`, 0);
    // The first write begins, and finds the pipe full.
    if (at === 900) await pass(20);
  }
  await writer.flush(50);
  expect(writer.dropped()).toBeGreaterThan(500);
  let received = "";
  const buffer = Buffer.alloc(1 << 16);
  const isReported = () => {
    try {
      received += buffer.toString("utf8", 0, readSync(reading, buffer));
    } catch {
      // The pipe is empty.
    }
    return received.includes("dropped");
  };
  await until(isReported, 10_000, "the report");
  const lines = received.trimEnd().split("\n");
  const numbers = lines.filter((line) => !line.startsWith("dropped")).map(Number);
  expect(numbers).toEqual(numbers.toSorted((one, other) => one - other));
  expect(numbers.length + writer.dropped()).toBe(sent);
  expect(reported).toEqual([writer.dropped()]);
});

test("lines to a full disk are counted, and never end the process", async () => {
  const { writer } = createWriter(open("/dev/full", "w"));
  for (let at = 0; at < 10; at++) writer.add("one line\n", 0);
  await writer.flush(5_000);
  writer.add("another\n", 0);
  await writer.flush(5_000);
  expect(writer.dropped()).toBe(11);
});
