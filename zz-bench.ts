// one-off measurement: 1,000,000 entries
import { startTestService } from "./test/support/service.ts";
import { issueOperator } from "./test/support/admin/operators.ts";
import { Database } from "bun:sqlite";
const service = await startTestService("sqlite", { "low-stock-at": "5", "metrics-port": "0" });
const operator = (await issueOperator(service)).text;
const n = 1_000_000;
const path = service.databaseUrl.slice("sqlite:".length);
async function* pets() {
  for (let at = 0; at < n; at += 5000) yield Array.from({ length: 5000 }, (_, i) => ({ line: at + i + 1, petId: BigInt(at + i + 1), name: `P${at + i}`, quantity: (at + i) % 50, ...( (at+i) % 2 ? { lowStockAt: 7 } : {}) }));
}
const { commandImport } = await import("./src/domain/catalogue/import-preview.ts");
let t = performance.now();
await service.store.catalogue.importPets(pets() as never, commandImport("bench"));
console.log("import", Math.round(performance.now() - t), "ms");
// longest turn
let worst = 0; let last = performance.now();
const timer = setInterval(() => { const now = performance.now(); worst = Math.max(worst, now - last - 5); last = now; }, 5);
const call = async (path: string) => { worst = 0; last = performance.now(); const cpu = process.cpuUsage(); const s = performance.now(); const r = await service.call("GET", `~/admin${path}`, { key: operator }); const c = process.cpuUsage(cpu); console.log(path, Math.round(performance.now() - s), "ms, cpu", Math.round((c.user + c.system) / 1000), "ms, worst turn", Math.round(worst), "ms", r.text.length); return r; };
await call("/service"); await call("/service"); 
await service.call("PATCH", "~/admin/pets/1", { key: operator, body: '{"lowStockAt":9}' });
await call("/service"); await call("/service");
// sales: every pet on d days, written directly
const db = new Database(path); db.run("PRAGMA busy_timeout=60000");
const day = Math.floor(service.clock.now() / 86400000);
for (const days of [1, 4, 28]) {
  t = performance.now();
  db.run("BEGIN IMMEDIATE");
  for (let d = 0; d < days; d++) db.run(`INSERT OR REPLACE INTO sales SELECT pet_id, ?1, 3 FROM inventory`, [day - d]);
  db.run("COMMIT"); db.run("PRAGMA wal_checkpoint(TRUNCATE)");
  console.log("filled", days, Math.round(performance.now() - t), "ms");
  await call("/sales");
}
// adding: 1000-row slices over the import rows cost nothing; measure sales rows
const { unitOf } = await import("./test/support/units.ts");
const units = Array.from({ length: 20 }, (_, u) => unitOf(...Array.from({ length: 1000 }, (_, i) => ({ petId: BigInt(((u * 1000 + i) * 7919) % n + 1), kind: "set" as const, amount: 0 }))));
for (const u of units) await service.store.inventory.commit([u]);
const { seq } = await service.store.inventory.readHead();
const from = seq - 20000;
new Database(path).run(`UPDATE counters SET value = ${from} WHERE name='sales'`);
const times: number[] = [];
for (let i = 0; i < 20; i++) { const s = performance.now(); await service.store.sales.addSales(from, day - 27); times.push(performance.now() - s); }
times.sort((a, b) => a - b);
console.log("slice of 1000 rows: median", times[10]!.toFixed(1), "max", times.at(-1)!.toFixed(1), "at", await service.store.sales.readSalesSeq(), seq);
clearInterval(timer);
await service.stop();
process.exit(0);
