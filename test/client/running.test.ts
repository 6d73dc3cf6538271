import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { PetstoreClient } from "../../client/src/index.ts";
import type { Fetch } from "../../client/src/options.ts";
import { plans } from "../../src/domain/plans.ts";
import { closeBrowser } from "../browser.ts";
import { checkAgainstContract } from "../contract/answers.ts";
import { startTestService, type TestService } from "../service.ts";
import { journeyInBrowser, PackageSite } from "./browser.ts";
import { ManualClock, runOut, Traffic } from "./clock.ts";
import { expectedReport, installPackedClient, journeyOn, type Project } from "./pack.ts";

let project: Project;
let site: PackageSite;
let service: TestService;

beforeAll(async () => {
  project = await installPackedClient();
  site = new PackageSite(project);
  service = await startTestService("sqlite", { "cors-origins": site.origin });
  await service.addPets({ petId: 1n }, { petId: 2n }, { petId: 9223372036854775807n });
  const orders = expectedReport.orders.map((id, at) => ({
    line: at + 1,
    id: BigInt(id),
    petId: 1n,
    quantity: 1,
    shipDate: null,
    status: "placed" as const,
    complete: false,
  }));
  await service.addOrders(...orders);
}, 60_000);

afterAll(async () => {
  await closeBrowser();
  await service.stop();
  await site[Symbol.asyncDispose]();
  await project[Symbol.asyncDispose]();
});

describe("the packed client, against the running service", () => {
  for (const runtime of ["node", "bun"] as const) {
    test(`does all it promises under ${runtime}`, async () => {
      const { text } = await service.issueKey();
      expect(await journeyOn(runtime, project, service.baseUrl, text)).toEqual(expectedReport);
    }, 20_000);
  }

  test("does all it promises in a browser, from an origin the service allows", async () => {
    const { text } = await service.issueKey();
    expect(await journeyInBrowser(site, service.baseUrl, text)).toEqual(expectedReport);
  }, 60_000);
});

test("200 parallel calls with a Free key finish without a refusal, a strike or a ban, by the service's own count", async () => {
  const { id, text } = await service.issueKey({ plan: "free", limits: plans.free });
  const clock = new SharedClock(service.clock.now());
  const traffic = new Traffic();
  const statuses = new Map<number, number>();
  const watched: Fetch = async (url, init) => {
    const answer = await traffic.fetch(url, init);
    const { status, headers } = answer;
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    const { pathname } = new URL(url);
    const method = init.method ?? "GET";
    checkAgainstContract({ method, pathname, status, headers, text: await answer.clone().text() });
    return answer;
  };
  const client = new PetstoreClient({
    baseUrl: service.baseUrl,
    apiKey: text,
    clock,
    fetch: watched,
  });
  const calls = Array.from({ length: 200 }, (_, at) =>
    at % 2 === 0 ? client.listInventory() : client.updateInventory(1n, { quantity: at }),
  );
  await runOut(clock, traffic, Promise.all(calls));
  // Strikes come from refused requests alone: where none was refused, there is none.
  expect([...statuses.keys()].filter((status) => status >= 400)).toEqual([]);
  await service.restart();
  const usage = (await service.store.loadUsage()).find((row) => row.keyId === id);
  expect(usage?.dayCount).toBe(200);
  expect((await service.store.loadBans()).filter((ban) => ban.keyId === id)).toEqual([]);
});

/** The client and the service live in the same time. */
class SharedClock extends ManualClock {
  override advanceTo(ms: number): void {
    service.clock.set(Math.max(ms, service.clock.now()));
    super.advanceTo(ms);
  }
}
