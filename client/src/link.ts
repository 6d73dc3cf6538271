const linkValue = /<([^>]*)>((?:\s*;\s*[^\s=;,]+(?:\s*=\s*(?:"(?:[^"\\]|\\.)*"|[^\s;,"]*))?)*)/g;
const relation = /;\s*rel\s*=\s*(?:"([^"]*)"|([^\s;,"]+))/i;

/** Finds the target of `rel="next"` in a `Link` header (RFC 8288), resolved against `base`. */
export function findNextLink(field: string | null, base: string): URL | undefined {
  for (const [, target = "", parameters = ""] of (field ?? "").matchAll(linkValue)) {
    const [, quoted, bare] = relation.exec(parameters) ?? [];
    const relations = (quoted ?? bare ?? "").toLowerCase().split(/\s+/);
    if (relations.includes("next") && URL.canParse(target, base)) return new URL(target, base);
  }
  return undefined;
}
