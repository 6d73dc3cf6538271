/**
 * Creates a store with the code of a release, writes a backup of it for test/fixtures, and prints its keys
 * as JSON. It uses only the command line and the HTTP API of the release, because they change less than
 * its code.
 *
 *   bun scripts/release-store.ts CHECKOUT DATABASE BACKUP
 */

import { resolve } from "node:path";

const [checkout = "", database = "", backup = ""] = process.argv.slice(2);
if (backup === "") throw new Error("usage: bun scripts/release-store.ts CHECKOUT DATABASE BACKUP");
const petstore = resolve(checkout, "bin/petstore");

const options = {
  // The ledger stores the names of imported files. Relative names contain no local paths.
  cwd: resolve(import.meta.dir, "../test/fixtures"),
  env: { PATH: process.env.PATH ?? "", DATABASE_URL: database },
  stderr: "inherit",
} as const;

async function runForBytes(...args: string[]): Promise<Uint8Array> {
  const child = Bun.spawn([petstore, ...args], { ...options, stdout: "pipe" });
  const out = await new Response(child.stdout).bytes();
  if ((await child.exited) !== 0) throw new Error(`${args.join(" ")} failed: ${asText(out)}`);
  return out;
}

const asText = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
const run = async (...args: string[]) => asText(await runForBytes(...args));

/** The id and the secrets of each key, by name. A secret is printed only once. */
const keys: Record<string, { id: string; texts: string[] }> = {};

async function createKey(name: string, plan: string, ...flags: string[]): Promise<void> {
  const args = ["keys", "create", "--name", name, "--plan", plan, "--json", ...flags];
  const { id, key } = JSON.parse(await run(...args));
  keys[name] = { id, texts: [key] };
}

/** After the key was created, and before the keys are listed. */
const expiresAt = Date.now() + 10_000;

async function createKeys(): Promise<void> {
  await createKey("expired", "pro", "--expires", new Date(expiresAt).toISOString());
  await createKey("all scopes", "business", "--expires", "2126-01-01T00:00:00Z");
  await createKey('Zoë\'s "till" | 🐢', "free", "--scopes", "inventory:read,pets:read");
  await createKey("revoked", "pro");
  await createKey("rotated", "pro");
  const limits = (minute: string, day: string) => ["--per-minute", minute, "--per-day", day];
  await createKey("custom limits", "enterprise", ...limits("1234", "56789"));
  await createKey("counted", "enterprise", ...limits("100", "10"));
  await createKey("banned", "enterprise", ...limits("5", "1000"));
  await createKey("unbanned", "enterprise", ...limits("5", "1000"));
}

/** One strike bans a key for a hundred years. */
const banRules = [
  ...["--ban-strikes-min", "1", "--ban-strikes-divisor", "1000000", "--ban-grace-ms", "1"],
  ...["--ban-minutes", "52560000", "--ban-minutes-max", "52560000"],
];

async function withService(work: (baseUrl: string) => Promise<void>): Promise<void> {
  const args = ["serve", "--port", "0", ...banRules];
  const child = Bun.spawn([petstore, ...args], { ...options, stdout: "pipe" });
  let written = "";
  const decoder = new TextDecoder();
  for await (const chunk of child.stdout) {
    written += decoder.decode(chunk, { stream: true });
    const [baseUrl] = /http:\S+\/v1\b/.exec(written) ?? [];
    if (baseUrl === undefined) continue;
    await work(baseUrl).finally(() => child.kill("SIGTERM"));
    break;
  }
  if ((await child.exited) !== 0) throw new Error(`the service failed: ${written}`);
}

async function useStore(baseUrl: string): Promise<void> {
  const call = async (name: string, path: string, quantity?: number, idempotencyKey?: string) => {
    const response = await fetch(baseUrl + path, {
      headers: {
        Authorization: `Bearer ${keys[name]!.texts[0]}`,
        ...(quantity === undefined ? {} : { "Content-Type": "application/json" }),
        ...(idempotencyKey === undefined ? {} : { "Idempotency-Key": idempotencyKey }),
      },
      ...(quantity === undefined ? {} : { method: "PATCH", body: JSON.stringify({ quantity }) }),
    });
    return { status: response.status, text: await response.text() };
  };
  const set = async (petId: string, quantity: number, idempotencyKey?: string) => {
    const path = `/inventory/${petId}`;
    const { status, text } = await call("all scopes", path, quantity, idempotencyKey);
    if (status !== 200) throw new Error(text);
  };
  await set("1", 10);
  // An update to the same quantity adds a row to the ledger too.
  await set("1", 10);
  await run("pets", "import", "restock.csv");
  await set("9223372036854775807", 4);
  await set("9223372036854775807", 0);
  await set("7", 5, "delivery-1");
  await run("undo", "13");

  for (let request = 0; request < 4; request++) await call("counted", "/inventory");
  for (const name of ["banned", "unbanned"]) {
    while (!(await call(name, "/inventory")).text.includes("key_banned"));
  }
  await run("keys", "unban", keys.unbanned!.id);
  await run("keys", "revoke", keys.revoked!.id);
  const rotate = ["keys", "rotate", keys.rotated!.id, "--overlap", "36500d", "--json"];
  keys.rotated!.texts.push(JSON.parse(await run(...rotate)).key);
}

/** Their addresses are reserved for documentation, and no test delivers to them. */
async function createWebhooks(): Promise<void> {
  const create = async (...flags: string[]): Promise<string> => {
    const allowed = ["--webhooks-allowed-networks", "192.0.2.0/24"];
    return JSON.parse(await run("webhooks", "create", "--json", ...allowed, ...flags)).id;
  };
  const filter = ["--pets", "2,7", "--statuses", "sold", "--causes", "undo", "--below", "3"];
  await create("--url", "https://192.0.2.7/low", "--name", "Zoë | low", ...filter);
  const paused = await create("--url", "https://192.0.2.7:8443/all?a=1", "--from", "1");
  await run("webhooks", "rotate", paused, "--overlap", "36500d");
  await run("webhooks", "pause", paused);
}

await run("pets", "import", "pets.json");
await run("orders", "import", "orders.csv");
await createKeys();
await withService(useStore);
await createWebhooks();
await Bun.sleep(expiresAt - Date.now());
const listed = JSON.parse(await run("keys", "list", "--json"));
const webhooks = JSON.parse(await run("webhooks", "list", "--json"));
const { seq, hash } = JSON.parse(await run("verify", "--json"));
await Bun.write(backup, await runForBytes("backup", "-"));
console.log(JSON.stringify({ keys, listed, webhooks, head: { seq, hash } }));
