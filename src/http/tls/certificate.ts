import { every } from "../../domain/running/background.ts";
import type { Log } from "../../domain/running/events.ts";
import {
  type CertificateInfo,
  checkKeyPair,
  type KeyPairFiles,
  type KeyPairText,
  readKeyPair,
} from "./key-pair.ts";

/** The certificate in use. It is replaced when its files change. */
export type Certificate = Awaited<ReturnType<typeof openCertificate>>;

/**
 * The two files of a renewal do not change at the same moment. A pair that does not match is a
 * failure only if the next check finds the same.
 */
const failuresLogged = 2;

/**
 * Loads the certificate, and loads it again when the content of a file changes. Reads the files
 * instead of watching them: tools replace files, links to files and links to folders, and a few
 * kilobytes cost less than telling these apart. While the files cannot be used, the last certificate
 * stays in use.
 */
export async function openCertificate(files: KeyPairFiles, log: Log, checkEveryMs: number) {
  let text = await readKeyPair(files);
  let info = checkKeyPair(text, files);
  let failures = 0;
  const subscribers: ((text: KeyPairText) => void)[] = [];
  log("certificate loaded", details(info));

  async function check(): Promise<void> {
    try {
      const found = await readKeyPair(files);
      const isSame = found.cert === text.cert && found.key === text.key;
      if (!isSame) {
        const foundInfo = checkKeyPair(found, files);
        for (const replaced of subscribers) replaced(found);
        text = found;
        info = foundInfo;
      }
      if (!isSame || failures >= failuresLogged) log("certificate reloaded", details(info));
      failures = 0;
    } catch (error) {
      failures += 1;
      if (failures === failuresLogged) {
        log("certificate not loaded", { error: (error as Error).message, inUse: details(info) });
      }
    }
  }

  return {
    get text() {
      return text;
    },
    /** Milliseconds since 1970. */
    get expiresAt() {
      return info.expiresAt;
    },
    /** Calls the function with every later certificate. */
    subscribe: (replaced: (text: KeyPairText) => void) => void subscribers.push(replaced),
    stop: every(checkEveryMs, "checking the certificate", log, check),
  };
}

function details({ subject, expiresAt }: CertificateInfo): Record<string, string> {
  return { subject, expiresAt: new Date(expiresAt).toISOString() };
}
