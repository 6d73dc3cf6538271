// JSON with exact 64-bit ids, in both directions.
//
// The patterns never match inside a string: a name, a quote and a colon in a row always end a key,
// because a quote inside a string follows a backslash.

const numericId = /("(?:petId|id)"\s*:\s*)(-?\d+)/g;
const numericIds = /("pets"\s*:\s*\[)([-\d,\s]*)\]/g;
const textId = /("petId":)"(-?\d+)"/g;
const textIds = /("pets":\[)((?:"-?\d+",?)*)\]/g;

/** Parses JSON. The integers `petId` and `id` and the list `pets` become decimal strings. */
export function parseExactly(text: string): unknown {
  const quoted = text
    .replace(numericId, '$1"$2"')
    .replace(
      numericIds,
      (_all, start: string, ids: string) => `${start}${ids.replace(/-?\d+/g, '"$&"')}]`,
    );
  return JSON.parse(quoted);
}

/** Writes JSON in which `petId` and `pets` are integers with all their digits. */
export function formatExactly(value: unknown): string {
  return JSON.stringify(value)
    .replace(textId, "$1$2")
    .replace(textIds, (_all, start: string, ids: string) => `${start}${ids.replaceAll('"', "")}]`);
}
