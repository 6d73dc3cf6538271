// Conversions for <input type="datetime-local">, which has no time zone: it shows the person's own.

/** The value of the input for a time of the API. Empty for an empty text. */
export function localInputValue(time: string): string {
  if (time === "") return "";
  const at = Date.parse(time);
  const shifted = new Date(at - new Date(at).getTimezoneOffset() * 60_000);
  const isWhole = at % 60_000 === 0;
  return shifted.toISOString().slice(0, isWhole ? 16 : 19);
}

/** The time for the API. Empty if the input is. */
export function readLocalInput(value: string): string {
  const at = value === "" ? Number.NaN : new Date(value).getTime();
  return Number.isNaN(at) ? "" : new Date(at).toISOString();
}
