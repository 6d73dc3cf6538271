import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { isBucketAddress } from "../../backup/bucket.ts";
import { readKeyFile } from "../../backup/encryption.ts";
import { runShell } from "../../compose/child.ts";
import type { Config } from "../../config.ts";
import { aboutCertificate } from "../../domain/operations/attention.ts";
import { checkKeyPair, readKeyPair } from "../../http/tls/key-pair.ts";
import { packageVersion } from "../../version.ts";
import { checkSpace } from "./files.ts";
import { type Bounds, type Check, day, type Found, judged, ok, warning } from "./finding.ts";

/** Checks of what the service needs besides its store. `storeBytes` is the size of a SQLite store. */
export function machineChecks(
  config: Config,
  bounds: Bounds,
  storeBytes: number,
): readonly Check[] {
  const checkFolder = () => checkBackupFolder(config, bounds, storeBytes);
  const version = `petstore ${packageVersion()} on Bun ${process.versions.bun}`;
  return [
    ["version", "Check the installation.", () => ok(version)],
    ["descriptors", "Run ulimit -n.", () => checkDescriptors(config, bounds)],
    ["certificate", "Check --tls-cert and --tls-key.", () => checkCertificate(config)],
    ["backup key", "Check --backup-key-file.", () => checkBackupKey(config)],
    ["backup folder", "Check --backup-folder.", checkFolder],
    ["replica", replicaAdvice, () => checkReplica(config, bounds)],
  ];
}

function checkDescriptors({ feed }: Config, { descriptorsBesideStreams }: Bounds): Found {
  const limit = descriptorLimit();
  const needed = feed.streamsMax + descriptorsBesideStreams;
  const found = `a process started like this one can open ${limit} files and connections`;
  return limit < needed
    ? warning(
        found,
        `Raise the limit to ${needed}, with ulimit -n or LimitNOFILE: each stream and connection takes one.`,
      )
    : ok(found);
}

/** The runtime raises the limit of its own process as far as it may. */
function descriptorLimit(): number {
  const limits = "/proc/self/limits";
  const text = existsSync(limits)
    ? /^Max open files\s+(\S+)/m.exec(readFileSync(limits, "utf8"))?.[1]
    : execFileSync("sh", ["-c", "ulimit -n"], { encoding: "utf8" }).trim();
  return text === "unlimited" ? Number.POSITIVE_INFINITY : Number(text);
}

async function checkCertificate(config: Config): Promise<readonly Found[]> {
  const { tlsCertFile: certFile, tlsKeyFile: keyFile } = config;
  if (!certFile) return [];
  const files = { certFile, keyFile };
  const { expiresAt } = checkKeyPair(await readKeyPair(files), files);
  const renew = "Renew the certificate. The service reloads the files when they change.";
  const fine = `valid until ${day(expiresAt)}`;
  return [
    ...judged(aboutCertificate(expiresAt, Date.now()), { certificate: [fine, renew] }),
    ...checkPrivacy("private key", keyFile),
  ];
}

function checkPrivacy(what: string, file: string): readonly Found[] {
  if ((statSync(file).mode & 0o077) === 0) return [];
  return [warning(`other users can read the ${what} ${file}`, `Run chmod 600 ${file}.`)];
}

function checkBackupKey({ backupKeyFile: file }: Config): readonly Found[] {
  const [key] = readKeyFile(file);
  if (!key) return [];
  const open = checkPrivacy("key of the backups", file);
  return open.length > 0 ? open : [ok(`new backups are encrypted with the key ${key.id}`)];
}

const replicaAdvice = "Check the program that makes it, and its log. See docs/litestream.md.";

/** The service may not run, so the check is made here. */
async function checkReplica({ replicaCheck }: Config, { replicaMs }: Bounds): Promise<Found> {
  if (replicaCheck === undefined) return ok("--replica-check is not set");
  await runShell(replicaCheck, AbortSignal.timeout(replicaMs));
  return ok("every update is in the continuous copy");
}

function checkBackupFolder(
  { backupFolder, backupEveryMs }: Config,
  bounds: Bounds,
  storeBytes: number,
): readonly Found[] {
  // The check of the backups lists the bucket.
  if (isBucketAddress(backupFolder)) return [];
  const folder = resolve(backupFolder);
  if (!backupEveryMs && !existsSync(folder)) return [];
  let existing = folder;
  while (!existsSync(existing)) existing = dirname(existing);
  const space = checkSpace(existing, storeBytes, bounds);
  const mode = statSync(existing).mode & 0o077;
  if (space.result !== "ok" || existing !== folder || mode === 0) return [space];
  return [
    warning(
      `other users can open ${folder}`,
      `Run chmod 700 ${folder}. Backups contain everything that the store does.`,
    ),
  ];
}
