// A store in which every view of the console has something to show, with long names and hostile markup.

import { issueOperator } from "./admin/operators.ts";
import { program } from "./program.ts";
import { type Engine, startTestService, type TestService } from "./service.ts";

const markup = `<img src=x onerror="document.title='stolen'">`;

export interface FullStore {
  readonly service: TestService;
  /** The address of a view. */
  addressOf(path: string): string;
}

export async function startFullStore(engine: Engine): Promise<FullStore> {
  const flags = { "webhooks-allow-insecure": "on", "webhooks-allowed-networks": "127.0.0.0/8" };
  const service = await startTestService(engine, flags, {}, { program });
  const till = await service.issueKey({ name: "Till 🦜 ".repeat(12) });
  const name = `\u202e${"Maximilian".repeat(20)}`;
  await service.addPets({ petId: 1n, name: "Rex" }, { petId: -9223372036854775808n, name });
  const order = { line: 1, id: 1n, petId: 1n, quantity: 1, shipDate: null, complete: false };
  await service.addOrders({ ...order, status: "placed" });
  const changes = [{ petId: 1, quantity: 9_007_199_254_740_991, reason: "x".repeat(200) }];
  await service.call("POST", "/changes", { key: till.text, body: JSON.stringify({ changes }) });
  const { id: keyId } = await service.issueKey({ name: `${markup} ${"x".repeat(150)}` });
  const { text: key } = await issueOperator(service, "Maintainer");
  const webhook = { name: "z".repeat(150), url: `http://127.0.0.1:1024/${"y".repeat(150)}` };
  const body = JSON.stringify(webhook);
  const { json } = await service.call("POST", "~/admin/webhooks", { key, body });
  const webhookId = (json as { id: string }).id;
  const addressOf = (path: string) => path.replace("{key}", keyId).replace("{webhook}", webhookId);
  return { service, addressOf };
}

/** What each view shows once it has loaded. */
export const shown: Record<string, string> = {
  "/overview": ".chart svg",
  "/stock": "[data-pet='1']",
  "/stock/count": "#count-id:enabled",
  "/activity": "[data-row]",
  "/history": ".pet-choices",
  "/history/1": ".step-line",
  "/history/moment?at=1": "[role=table] >> text=Rex",
  "/import": ".exports",
  "/orders": "tbody >> text=Rex",
  "/keys": ".key-name",
  "/keys/{key}": "h1 >> text=onerror",
  "/webhooks": "table >> text=zzz",
  "/webhooks/{webhook}": "h1 >> text=zzz",
  "/backups": "text=Make a backup now",
  "/audit": ".audit-action",
};
