// A page of a file of the store is damaged, as a failing disk does it, under a running or a stopped service.
import { randomBytes } from "node:crypto";
import { closeSync, openSync, readSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { Workspace } from "../../test/support/process.ts";
import { sendLoad } from "../load.ts";
import type { Round } from "../part.ts";
import { faultsIn } from "../store.ts";
import { createAnswers } from "./answers.ts";
import { createSite, type Site, serveWords } from "./site.ts";

const pageBytes = 4096;
const logHeaderBytes = 32;
const frameHeaderBytes = 24;

/** Damages one page. Returns what was done to it. */
function damagePage({ file }: Site, { random }: Round, isLog: boolean): string {
  const path = isLog ? `${file}-wal` : file;
  const frameBytes = isLog ? frameHeaderBytes + pageBytes : pageBytes;
  const first = isLog ? logHeaderBytes + frameHeaderBytes : 0;
  const count = Math.floor((statSync(path).size - first) / frameBytes);
  const at = (page: number) => first + page * frameBytes;
  const page = random.below(count);
  const handle = openSync(path, "r+");
  const content = Buffer.alloc(pageBytes);
  const how = random.pick(["zeros", "garbage", "another page", "a flipped bit"]);
  if (how === "garbage") randomBytes(pageBytes).copy(content);
  else if (how !== "zeros")
    readSync(
      handle,
      content,
      0,
      pageBytes,
      at(how === "another page" ? random.below(count) : page),
    );
  if (how === "a flipped bit") content[random.below(pageBytes)]! ^= 1 << random.below(8);
  writeSync(handle, content, 0, pageBytes, at(page));
  closeSync(handle);
  return `${how} in page ${page} of ${count} of ${isLog ? "the log" : "the database"}`;
}

/** `petstore verify` must report the damage, unless the store still has everything. */
export async function damagePages(round: Round, place: Workspace): Promise<void> {
  const { random, isShort } = round;
  const site = await createSite(place, join(round.folder, "data"));
  const isLog = random.chance(0.4);
  const isRunning = random.chance(0.5);
  let service = await place.serve(serveWords(site));
  const baseUrl = () => service.baseUrl;
  const answers = createAnswers(round, site.keys, baseUrl);
  const target = { ...site.keys, baseUrl, position: () => 0, mayFail: answers.mayFail };
  const ms = isShort ? 500 : 2_000;
  let how = "";
  const damage = () => {
    how = `${damagePage(site, round, isLog)}, ${isRunning ? "running" : "stopped"}`;
    round.faults(1);
  };
  const damaging = isRunning ? Bun.sleep(ms / 2).then(damage) : undefined;
  const [load] = await Promise.all([sendLoad(target, random, ms), damaging]);
  round.acknowledged(load.told.length);
  service.kill("SIGKILL");
  await service.exited;
  if (how === "") damage();

  const { code, out, err } = await place.run(["verify", "--database", site.database]);
  if (code > 2 || /^ +at /m.test(err))
    round.fail("wrong", `verify ended with ${code}: ${out}${err} (${how})`);
  if (code !== 0) return;
  for (const { wrong, what } of await faultsIn(site.database, load, 0)) {
    // The log ends at its first damaged frame. docs/sqlite.md says that what follows is lost.
    if (!(isLog && wrong === "lost")) round.fail(wrong, `${what} (verify found nothing: ${how})`);
  }
  service = await place.serve(serveWords(site));
  await answers.recover(how);
}
