/** What an answer of the service can hold once it is read. */
export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [key: string]: Json };

/** With fifteen digits an integer is exact as a number; of 64 bits, the longest has nineteen. */
const longId = /((?:petId|id)"\s*:\s*)(-?[1-9]\d{15,18})(?![\d.eE])/g;

/**
 * Reads a JSON text as `JSON.parse` does, but gives an id of sixteen digits and more as the string
 * of its digits: JSON.parse would round it past 2^53, and what tells it the digits (`context.source`)
 * is missing in Node 20. No text inside a string is taken for an id: a letter, a quote and a colon
 * in a row only ever end a key, because within a string that quote would follow a backslash.
 */
export function parseWithLongIds(text: string): Json {
  return JSON.parse(text.replace(longId, '$1"$2"'));
}
