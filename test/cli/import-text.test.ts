import { expect, test } from "bun:test";
import { decodeText } from "../../src/files/text.ts";

/** Characters of one, two, three and four bytes, each beside each. */
const text = "aé€🐢é🐢€a🐢🐢€€ééaa";

async function decoded(...chunks: readonly Uint8Array[]): Promise<string> {
  async function* bytes() {
    yield* chunks;
  }
  return (await Array.fromAsync(decodeText(bytes(), false))).join("");
}

test("a text is the same wherever its chunks end, also inside a character", async () => {
  const bytes = Buffer.from(text);
  for (let end = 0; end <= bytes.length; end++) {
    expect(await decoded(bytes.subarray(0, end), bytes.subarray(end))).toBe(text);
  }
  for (let size = 1; size <= bytes.length; size++) {
    const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
      bytes.subarray(at * size, (at + 1) * size),
    );
    expect(await decoded(...chunks)).toBe(text);
  }
});

test("a text that ends inside a character is not UTF-8", async () => {
  const bytes = Buffer.from(text);
  for (const character of ["é", "€", "🐢"]) {
    const end = Buffer.from(character).length - 1;
    const cut = Buffer.concat([bytes, Buffer.from(character).subarray(0, end)]);
    await expect(decoded(cut)).rejects.toThrow("the text is not UTF-8");
  }
});

test("a text of a spreadsheet program is read in its encoding, wherever its chunks end", async () => {
  const german = "Größe „Spaß“ – 3 €\n";
  const codes: Record<string, number> = { "„": 0x84, "“": 0x93, "–": 0x96, "€": 0x80 };
  const files = {
    "Windows-1252": Uint8Array.from(german, (one) => codes[one] ?? one.charCodeAt(0)),
    "UTF-8": Buffer.from(`\uFEFF${german}`),
  };
  for (const bytes of Object.values(files)) {
    for (let end = 0; end <= bytes.length; end++) {
      async function* chunks() {
        yield bytes.subarray(0, end);
        yield bytes.subarray(end);
      }
      expect((await Array.fromAsync(decodeText(chunks(), true))).join("")).toBe(german);
    }
  }
});
