import { Refusal } from "../domain/errors.ts";

const decoder = new TextDecoder("utf-8", { fatal: true });

/** The media types a request body may have. */
const jsonTypes = ["application/json", "application/merge-patch+json"] as const;

/** The same for the header that tells clients. */
export const acceptPatch = jsonTypes.join(", ");

/** The body is compressed, or says so: none of ours are read that way. */
export class UnsupportedCoding extends Refusal {
  constructor() {
    super("unsupported_media_type", "The body must not be compressed: leave out Content-Encoding.");
  }
}

/** Reads a JSON request's text within its bound; every way it can be wrong has its own refusal. */
export async function readJsonText(request: Request, bytesMax: number): Promise<string> {
  const type = request.headers.get("content-type");
  if (type !== null && !isJsonType(type)) {
    throw new Refusal("unsupported_media_type", `The body must be ${jsonTypes.join(" or ")}.`);
  }
  const coding = request.headers.get("content-encoding");
  if (coding !== null && coding.trim().toLowerCase() !== "identity") throw new UnsupportedCoding();
  const bytes = await readBytes(request, bytesMax);
  if (bytes.length === 0) throw new Refusal("invalid_request", "A JSON body is required.");
  try {
    return decoder.decode(bytes);
  } catch {
    throw new Refusal("invalid_request", "The body is not valid UTF-8.");
  }
}

function isJsonType(header: string): boolean {
  const type = header.split(";")[0]!.trim().toLowerCase();
  return jsonTypes.some((one) => one === type);
}

async function readBytes(request: Request, bytesMax: number): Promise<Uint8Array> {
  const declared = request.headers.get("content-length");
  if (declared !== null && Number(declared) > bytesMax) throw tooLarge(bytesMax);
  try {
    if (declared !== null) return await request.bytes();
    return await readStream(request, bytesMax);
  } catch (error) {
    if (error instanceof Refusal) throw error;
    throw new Refusal("invalid_request", "The body could not be read to its end.");
  }
}

/** Without a declared length only the bytes that arrive can tell, so they are counted. */
async function readStream(request: Request, bytesMax: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of request.body ?? []) {
    length += chunk.length;
    if (length > bytesMax) throw tooLarge(bytesMax);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function tooLarge(bytesMax: number): Refusal {
  return new Refusal("payload_too_large", `The body may have at most ${bytesMax} bytes.`);
}
