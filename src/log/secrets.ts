/** The secrets among the settings: the password of the database, and what the collector asks for. */
export function secretsOf({
  databaseUrl,
  otlpEndpoint,
  otlpHeaders,
}: {
  readonly databaseUrl: string;
  readonly otlpEndpoint: string | undefined;
  readonly otlpHeaders: string;
}): readonly string[] {
  const password = /^postgres(?:ql)?:\/\/[^:@/]*:(.*)@/.exec(databaseUrl)?.[1] ?? "";
  const parameters = [...databaseUrl.matchAll(/[?&](?:ssl)?password=([^&]*)/g)];
  const headers = otlpHeaders.split(",").map((pair) => pair.slice(pair.indexOf("=") + 1).trim());
  const collector = URL.parse(otlpEndpoint ?? "");
  const written = [
    ...[password, ...parameters.map(([, value]) => value!), ...headers],
    ...[collector?.username ?? "", collector?.password ?? ""],
    ...(collector?.searchParams.values() ?? []),
  ];
  return [...new Set(written.flatMap((text) => [text, decoded(text)]))].filter(Boolean);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
