import { unescape as decoded } from "node:querystring";
import type { ObjectAccess } from "../domain/operations/backups.ts";

/**
 * The secrets among the settings: the password of the database, what the collector asks for, and the
 * credentials of the object storage.
 */
export function secretsOf({
  databaseUrl,
  otlpEndpoint,
  otlpHeaders,
  objectAccess: { secretAccessKey, sessionToken },
}: {
  readonly databaseUrl: string;
  readonly otlpEndpoint: string | undefined;
  readonly otlpHeaders: string;
  readonly objectAccess: Pick<ObjectAccess, "secretAccessKey" | "sessionToken">;
}): readonly string[] {
  const password = /^postgres(?:ql)?:\/\/[^:@/]*:(.*)@/.exec(databaseUrl)?.[1] ?? "";
  const parameters = [...databaseUrl.matchAll(/[?&](?:ssl)?password=([^&]*)/g)];
  const headers = otlpHeaders.split(",").map((pair) => pair.slice(pair.indexOf("=") + 1).trim());
  const collector = URL.parse(otlpEndpoint ?? "");
  const written = [
    ...[password, ...parameters.map(([, value]) => value!), ...headers],
    ...[collector?.username ?? "", collector?.password ?? "", secretAccessKey, sessionToken],
    ...(collector?.searchParams.values() ?? []),
  ];
  return [...new Set(written.flatMap((text) => [text, decoded(text)]))].filter(Boolean);
}
