import { describe, expect, test } from "bun:test";
import type { Socket } from "node:net";
import { answerBytesMax } from "../../src/domain/webhooks/webhook.ts";
import { pass } from "../support/until.ts";
import { attempt } from "../support/webhook-attempts.ts";

/** Writes without end, as fast as the reader allows. */
function flood(socket: Socket, bytes: string): void {
  const write = () => {
    while (!socket.destroyed && socket.write(bytes));
  };
  socket.on("drain", write);
  write();
}

describe("the answer is that of the receiver", () => {
  const ok = "HTTP/1.1 200 OK\r\n";
  const answers: Record<string, readonly [string, number, string]> = {
    "with a length": [`${ok}Content-Length: 2\r\n\r\nok, and more`, 200, "ok"],
    "without a body": [`${ok}Content-Length: 0\r\n\r\n`, 200, ""],
    "until the connection ends": [`${ok}\r\nall of it`, 200, "all of it"],
    "in chunks": [
      `${ok}Transfer-Encoding: Chunked\r\nContent-Length: 1\r\n\r\n3\r\nabc\r\n0A;x=y\r\n0123456789\r\n0\r\nTrailer: x\r\n\r\n`,
      200,
      "abc0123456789",
    ],
    "in malformed chunks": [`${ok}Transfer-Encoding: chunked\r\n\r\n1\r\na\r\nxyz\r\nb`, 200, "a"],
    "after 1xx": [
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 202 Accepted\r\n\r\nx",
      202,
      "x",
    ],
    "204, which has no body": [
      "HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nabcde",
      204,
      "",
    ],
    "101, which nobody asked for": ["HTTP/1.1 101 Switching Protocols\r\n\r\nx", 101, ""],
    "without a reason phrase": ["HTTP/1.1 410\r\n\r\n", 410, ""],
    "of HTTP/1.0 with bare line feeds": ["HTTP/1.0 500 Oops\nContent-Length: 1\n\nx", 500, "x"],
    "with a long reason phrase": [`HTTP/1.1 503 ${"x".repeat(16_000)}\r\n\r\n`, 503, ""],
    "with a status that HTTP does not define": ["HTTP/1.1 999 X\r\n\r\n", 999, ""],
    "with control characters": [`${ok}\r\na\u001b[31m\r\n\tb`, 200, "a\u001b[31m\r\n\tb"],
    "with NUL, which not every store can keep": [`${ok}\r\na\0b`, 200, "a\ufffdb"],
    "with invalid UTF-8": [`${ok}\r\n\xff\xfe\xc3\xbc\xe2`, 200, "\ufffd\ufffdü\ufffd"],
  };
  for (const [name, [bytes, status, text]] of Object.entries(answers)) {
    test(`${name}, whether it arrives at once or byte by byte`, async () => {
      const whole = await attempt((socket) => socket.end(bytes, "latin1"));
      expect(whole).toMatchObject({ status, error: null, text });
      if (bytes.length > 1_000) return;
      const parts = await attempt(async (socket) => {
        for (const byte of Buffer.from(bytes, "latin1")) {
          socket.write(Buffer.of(byte));
          await new Promise(setImmediate);
        }
        socket.end();
      });
      expect(parts).toMatchObject({ status, error: null, text });
    });
  }

  test("and its text has at most 1,024 bytes, without half a character at the end", async () => {
    const texts = [
      "a".repeat(3_000),
      `a${"ü".repeat(2_000)}`,
      "🐕".repeat(500),
      `a${"🐕".repeat(500)}`,
      "\xff".repeat(3_000),
    ];
    const expected = [
      "a".repeat(1_024),
      `a${"ü".repeat(511)}`,
      "🐕".repeat(256),
      `a${"🐕".repeat(255)}`,
      "\ufffd".repeat(341),
    ];
    for (const [index, text] of texts.entries()) {
      const bytes = Buffer.from(text, text.startsWith("\xff") ? "latin1" : "utf8");
      const answer = await attempt((socket) => {
        socket.write(`${ok}\r\n`);
        socket.end(bytes);
      });
      expect(answer.text).toBe(expected[index]!);
      expect(Buffer.byteLength(answer.text)).toBeLessThanOrEqual(answerBytesMax);
    }
  });

  test("with Retry-After in seconds or as a date", async () => {
    const values: Record<string, number | null> = {
      "120": 120_000,
      "0": 0,
      ["9".repeat(400)]: Number.MAX_SAFE_INTEGER,
      "Sun, 15 Nov 2026 12:01:00 GMT": 60_000,
      "Sun, 15 Nov 2026 11:00:00 GMT": 0,
      "-1": null,
      "1.5": null,
      soon: null,
      "": null,
      "Sun, 99 Nov 2026 12:01:00 GMT": null,
      "2026-11-15T12:01:00Z": null,
    };
    for (const [value, retryAfterMs] of Object.entries(values)) {
      const bytes = `HTTP/1.1 503 Busy\r\nRETRY-AFTER:  ${value} \r\n\r\n`;
      const answer = await attempt((socket) => socket.end(bytes));
      expect({ value, ...answer }).toMatchObject({ value, status: 503, retryAfterMs });
    }
  });
});

describe("a status counts once the head is complete", () => {
  const head = "HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n";

  test("though the body never ends: reading stops after 64 KiB", async () => {
    let sent = 0;
    const answer = await attempt((socket) => {
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      flood(socket, "x".repeat(1_024));
      socket.on("close", () => {
        sent = socket.bytesWritten;
      });
    });
    expect(answer).toMatchObject({ status: 200, error: null, text: "x".repeat(1_024) });
    expect(sent).toBeGreaterThan(60_000);
  });

  test("though the body stalls until the time is over", async () => {
    const answer = await attempt((socket) => socket.write(`${head}abc`), { timeoutMs: 2_000 });
    expect(answer).toMatchObject({ status: 200, error: null, text: "abc" });
    expect(answer.durationMs).toBeGreaterThanOrEqual(1_999);
  });

  test("though the connection is reset in the middle of the body", async () => {
    const answer = await attempt((socket) =>
      socket.write(`${head}abc`, () => setTimeout(() => socket.resetAndDestroy(), 20)),
    );
    expect(answer).toMatchObject({ status: 200, error: null, text: "abc" });
  });
});

describe("there is no status", () => {
  const late = "no response within 0.2 s";
  const notHttp = "the response is not HTTP/1.1";
  const tooLong = "the response headers exceed 16 KiB";
  const early = "the connection closed before a response";
  const failures: Record<string, readonly [string, (socket: Socket) => void]> = {
    "if the receiver says nothing": [late, () => {}],
    "if the head arrives too slowly": [
      late,
      async (socket) => {
        for (const character of "HTTP/1.1 200 OK\r\nX: ".padEnd(5_000, "x")) {
          if (socket.destroyed) return;
          socket.write(character);
          await pass(10);
        }
      },
    ],
    "if the head never ends": [
      tooLong,
      (socket) => {
        socket.write("HTTP/1.1 200 OK\r\n");
        flood(socket, `X: ${"x".repeat(500)}\r\n`);
      },
    ],
    "if the status line never ends": [
      tooLong,
      (socket) => {
        socket.write("HTTP/1.1 200 ");
        flood(socket, "OK ".repeat(500));
      },
    ],
    "if 1xx never ends": [
      tooLong,
      (socket) => flood(socket, "HTTP/1.1 100 Continue\r\n\r\n".repeat(50)),
    ],
    "if the response is something else": [
      notHttp,
      (socket) => socket.write("220 mail.example ESMTP\r\n"),
    ],
    "if the status is not a number": [notHttp, (socket) => socket.end("HTTP/1.1 abc\r\n\r\n")],
    "if the length is not a number": [
      notHttp,
      (socket) => socket.end("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nabc"),
    ],
    "if there are two lengths": [
      notHttp,
      (socket) =>
        socket.end("HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 1\r\n\r\nabc"),
    ],
    "if the response is HTTP/2": [notHttp, (socket) => socket.end("HTTP/2 200 OK\r\n\r\n")],
    "if the connection ends at once": [early, (socket) => socket.end()],
    "if the connection ends in the head": [
      early,
      (socket) => socket.end("HTTP/1.1 200 OK\r\nX: y"),
    ],
    "if only 1xx arrives": [early, (socket) => socket.end("HTTP/1.1 100 Continue\r\n\r\n")],
    "if the connection is reset": ["connection reset", (socket) => socket.resetAndDestroy()],
  };
  for (const [name, [error, answer]] of Object.entries(failures)) {
    test(name, async () => {
      const { durationMs: _, ...rest } = await attempt(answer, {
        timeoutMs: error === late ? 200 : 600_000,
      });
      expect(rest).toEqual({ status: null, error, retryAfterMs: null, text: "" });
    });
  }
});
