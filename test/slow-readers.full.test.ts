import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { connect, type Socket } from "node:net";
import { startTestService, type TestService } from "./support/service.ts";

/** Long numbers, so that the list is much longer than what the kernel's buffers take of it. */
const firstPetId = 9_000_000_000_000_000_000n;
const firstQuantity = 1_000_000_000;
const entries = 120_000;
const chunkEntries = 4_096;
const codings = ["identity", "gzip"];

/** A client that requests the list and reads only its first bytes. */
interface Staller {
  /** Resolves with the end of what it received once its connection is closed. */
  received(): Promise<string>;
  readonly isOpen: () => boolean;
  leave(): void;
}

async function stall(baseUrl: string, key: string, coding: string): Promise<Staller> {
  const { hostname, port } = new URL(baseUrl);
  const socket = await new Promise<Socket>((resolve, reject) => {
    const opening = connect(Number(port), hostname, () => resolve(opening));
    opening.once("error", reject);
  });
  let isOpen = true;
  const ended = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  void ended.then(() => {
    isOpen = false;
  });
  socket.on("error", () => {});
  const answered = new Promise((resolve) => socket.once("readable", resolve));
  socket.write(
    `GET /v1/inventory HTTP/1.1\r\nHost: shop\r\nAuthorization: Bearer ${key}\r\nAccept-Encoding: ${coding}\r\n\r\n`,
  );
  await answered;
  return {
    isOpen: () => isOpen,
    async received() {
      let tail = "";
      socket.on("data", (bytes) => {
        tail = (tail + bytes.toString("latin1")).slice(-100);
      });
      await ended;
      return tail;
    },
    leave: () => void socket.destroy(),
  };
}

describe("clients that do not read their responses", () => {
  let service: TestService;
  const stalled: (Staller & { coding: string })[] = [];
  beforeEach(async () => {
    service = await startTestService("sqlite", {}, { listHeldBytesMax: 8 * 1024 * 1024 });
    const pets = Array.from({ length: entries }, (_, at) => ({
      petId: firstPetId + BigInt(at),
      quantity: firstQuantity,
    }));
    await service.addPets(...pets);
  });
  afterEach(async () => {
    for (const one of stalled.splice(0)) one.leave();
    await service.stop();
  });

  test("[open.slow-readers] slow clients are disconnected, and other clients still get the list", async () => {
    const limits = { perMinute: 1_000_000, perDay: 1_000_000 };
    const honest = await service.issueKey({ plan: "enterprise", limits });
    const hostile = await service.issueKey({ plan: "free" });
    const key = honest.text;
    for (let round = 1; round <= 12; round++) {
      const quantity = firstQuantity + round;
      // Changes every chunk, so that the responses share no bytes.
      for (let at = 0; at < entries; at += chunkEntries) {
        const path = `/inventory/${firstPetId + BigInt(at)}`;
        const update = await service.call("PATCH", path, { key, body: `{"quantity":${quantity}}` });
        expect(update.status).toBe(200);
      }
      const coding = codings[round % codings.length]!;
      stalled.push({ coding, ...(await stall(service.baseUrl, hostile.text, coding)) });
      // Without the check against the contract, which takes longer for a list of this size.
      const headers = { "Accept-Encoding": coding, Authorization: `Bearer ${key}` };
      const list = await fetch(`${service.baseUrl}/inventory`, { headers });
      expect(list.status).toBe(200);
      const text = await list.text();
      expect(text.startsWith(`[{"petId":${firstPetId},"quantity":${quantity},`)).toBe(true);
      expect(text.endsWith('"status":"available"}]')).toBe(true);
    }
    const cutOff = stalled.filter(({ isOpen }) => !isOpen());
    for (const coding of codings) {
      expect(cutOff.filter((one) => one.coding === coding).length).toBeGreaterThanOrEqual(3);
    }
    expect(stalled.at(-1)!.isOpen()).toBe(true);
    // They received only a part of the list, without the end of the response.
    for (const one of cutOff) expect(await one.received()).not.toEndWith("0\r\n\r\n");
    const lines = service.logged.filter((line) => line.includes("slow readers cut off"));
    expect(lines).toEqual([
      JSON.stringify({ event: "slow readers cut off", keyId: hostile.id, responses: 1 }),
    ]);
  });
});
