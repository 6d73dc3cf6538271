/** The database's time in milliseconds, or the first parameter if it is not null. */
export const nowMs =
  "coalesce($1::int8, floor(extract(epoch FROM clock_timestamp()) * 1000)::int8)";
