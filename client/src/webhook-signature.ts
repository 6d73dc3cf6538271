/** Bytes that the Web Crypto API accepts. */
type Bytes = Uint8Array<ArrayBuffer>;

const secretPrefix = "whsec_";

/** Decodes the secrets. The errors do not contain them. */
export function readSecrets(secrets: string | readonly string[]): Bytes[] {
  const list = typeof secrets === "string" ? [secrets] : secrets;
  if (!Array.isArray(list) || list.length === 0) {
    throw new TypeError("Pass the secret of the webhook, or an array of secrets");
  }
  return list.map((secret: unknown) => {
    const text = typeof secret === "string" ? secret : "";
    const encoded = text.startsWith(secretPrefix) ? text.slice(secretPrefix.length) : text;
    const key = decodeBase64(encoded);
    if (key !== undefined && key.length > 0) return key;
    throw new TypeError("A secret must be Base64 text, with or without whsec_ before it");
  });
}

export function decodeBase64(text: string): Bytes | undefined {
  // atob accepts more, such as spaces.
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text)) return undefined;
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}

/** Compares all signatures with all keys, so that the time does not show which one is right. */
export async function hasValidSignature(
  content: Bytes,
  signatures: readonly Uint8Array[],
  keys: readonly Bytes[],
): Promise<boolean> {
  let isValid = false;
  for (const key of keys) {
    const expected = await sign(content, key);
    for (const signature of signatures) {
      if (isEqual(signature, expected)) isValid = true;
    }
  }
  return isValid;
}

async function sign(content: Bytes, key: Bytes): Promise<Uint8Array> {
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const imported = await crypto.subtle.importKey("raw", key, algorithm, false, ["sign"]);
  return new Uint8Array(await crypto.subtle.sign("HMAC", imported, content));
}

/** Takes the same time wherever the difference is. The length of a signature is no secret. */
function isEqual(one: Uint8Array, other: Uint8Array): boolean {
  if (one.length !== other.length) return false;
  let difference = 0;
  for (let at = 0; at < one.length; at++) difference |= (one[at] ?? 0) ^ (other[at] ?? 0);
  return difference === 0;
}
