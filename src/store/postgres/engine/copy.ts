import type { Value } from "../../rows.ts";
import { bytesText } from "./arrays.ts";
import type { Session } from "./session.ts";

/**
 * Streams rows into a table with COPY, the fastest method: a million rows take about a second.
 * Returns the number of rows.
 */
export async function copyIn<T>(
  { sql }: Session,
  target: string,
  batches: AsyncIterable<readonly T[]>,
  values: (record: T) => readonly (Value | boolean)[],
): Promise<number> {
  const copy = sql.unsafe(`COPY ${target} FROM STDIN`);
  const writer = copy.writable().getWriter();
  const encoder = new TextEncoder();
  let rows = 0;
  try {
    for await (const batch of batches) {
      let text = "";
      for (const record of batch) text += line(values(record));
      rows += batch.length;
      if (text !== "") await writer.write(encoder.encode(text));
    }
  } catch (error) {
    await writer.abort(error).catch(() => {});
    throw error;
  }
  await writer.close();
  return rows;
}

const special = /[\\\t\n\r\b\f\v]/;

const escapes: Record<string, string> = {
  "\\": "\\\\",
  "\t": "\\t",
  "\n": "\\n",
  "\r": "\\r",
  "\b": "\\b",
  "\f": "\\f",
  "\v": "\\v",
};

/** One line in the text format of COPY: tabs between columns, special characters escaped. */
function line(values: readonly (Value | boolean)[]): string {
  let text = "";
  for (let index = 0; index < values.length; index++) {
    if (index > 0) text += "\t";
    const value = values[index]!;
    if (value === null) text += "\\N";
    else if (typeof value === "string" && special.test(value)) {
      text += value.replace(/[\\\t\n\r\b\f\v]/g, (character) => escapes[character]!);
    } else if (value instanceof Uint8Array) text += `\\${bytesText(value)}`;
    else text += value;
  }
  return `${text}\n`;
}
