/** One JSON object a line on standard error; nothing secret is ever handed to it. */
export type Log = (event: string, details?: Record<string, unknown>) => void;

export const logToStderr: Log = (event, details = {}) => {
  const line = JSON.stringify({ at: new Date().toISOString(), event, ...details }, (_key, value) =>
    typeof value === "bigint" ? value.toString() : value,
  );
  process.stderr.write(`${line}\n`);
};
