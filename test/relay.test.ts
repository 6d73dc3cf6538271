import { afterAll, expect, test } from "bun:test";
import { PetstoreClient } from "../client/src/index.ts";
import { closeBrowser, watchedContext } from "./support/browser.ts";
import { CuttingProxy } from "./support/client/cutting-proxy.ts";
import { startExample } from "./support/example-process.ts";
import { openStoreWorkspace } from "./support/workspaces.ts";

afterAll(closeBrowser);

const largestId = 9223372036854775807n;

test("a page without a key follows the stock with EventSource, and misses nothing when relay and service are killed", async () => {
  const place = await openStoreWorkspace("sqlite");
  const { context, requested, complaints } = await watchedContext();
  try {
    await place.importPets(
      `{"petId":7,"name":"A","quantity":3}`,
      `{"petId":${largestId},"name":"B","quantity":1}`,
    );
    const { key } = await place.createKey("relay");
    let served = await place.serve();
    await using service = await CuttingProxy.start(served.baseUrl);
    const client = new PetstoreClient({ baseUrl: service.baseUrl, apiKey: key, attemptsMax: 50 });
    const startRelay = async () => {
      const env = { BASE_URL: service.baseUrl, API_KEY: key, PORT: "0" };
      const relay = startExample([process.execPath, "examples/relay.ts"], env);
      const url = (await relay.lineWith("listening on ")).replace("listening on ", "");
      return { ...relay, url };
    };
    const first = await startRelay();
    await using relay = await CuttingProxy.start(first.url);

    const page = await context.newPage();
    // Records what the page receives, before its own script runs.
    await page.addInitScript(() => {
      const received: string[] = [];
      Object.assign(globalThis, { received });
      const add = EventSource.prototype.addEventListener;
      EventSource.prototype.addEventListener = function (
        this: EventSource,
        type: string,
        listener: never,
      ) {
        const record = ({ data }: { data: string }) => {
          received.push(type === "change" ? `change ${JSON.parse(data).seq}` : type);
          if (type === "change" && /key|reason/.test(data)) received.push("leaked");
        };
        if (type !== "error") add.call(this, type, record as never);
        add.call(this, type, listener);
      } as never;
    });
    const shown = (petId: bigint) => page.locator(`#pet-${petId}`).innerText();
    const sell = async (petId: bigint) => {
      await client.applyChanges([{ petId, delta: -1, reason: "sale" }]);
      return (await client.ledgerHead()).seq;
    };
    const lastIs = (seq: number) =>
      page.getByText(`Last change: ${seq}`, { exact: true }).waitFor();

    await page.goto(relay.baseUrl);
    await page.locator(`#pet-${largestId}`).waitFor();
    expect(await shown(7n)).toBe("7\t3\tavailable");
    await lastIs(await sell(largestId));
    expect(await shown(largestId)).toBe(`${largestId}\t0\tavailable`);

    // The relay is killed, and the stock changes before the next one runs.
    await first[Symbol.asyncDispose]();
    const missed = await sell(7n);
    await using second = await startRelay();
    relay.switchTo(second.url);
    await lastIs(missed);

    // The service is killed while the relay runs.
    served.kill("SIGKILL");
    await served.exited;
    served = await place.serve();
    service.switchTo(served.baseUrl);
    await lastIs(await sell(7n));
    expect(await shown(7n)).toBe("7\t1\tavailable");

    const received = await page.evaluate("received");
    expect(received).toEqual(["stock", "change 3", "change 4", "change 5"]);
    expect(requested.every((url) => url.startsWith(new URL(relay.baseUrl).origin))).toBe(true);
    expect(await page.content()).not.toContain(key);
    expect(complaints.filter((text) => !/ERR_|favicon|404/.test(text))).toEqual([]);
  } finally {
    await context.close();
    await place.leave();
  }
});
