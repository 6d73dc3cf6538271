/** The secrets among the settings: the password of the database and the headers of the collector. */
export function secretsOf({
  databaseUrl,
  otlpHeaders,
}: {
  readonly databaseUrl: string;
  readonly otlpHeaders: string;
}): readonly string[] {
  const password = /^postgres(?:ql)?:\/\/[^:@/]*:(.*)@/.exec(databaseUrl)?.[1] ?? "";
  const parameters = [...databaseUrl.matchAll(/[?&](?:ssl)?password=([^&]*)/g)];
  const headers = otlpHeaders.split(",").map((pair) => pair.slice(pair.indexOf("=") + 1).trim());
  const written = [password, ...parameters.map(([, value]) => value!), ...headers];
  return [...new Set(written.flatMap((text) => [text, decoded(text)]))].filter(Boolean);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
