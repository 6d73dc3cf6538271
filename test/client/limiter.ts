/** The rate-limit rules of the service, in their plainest form, with counters to assert on. */
export class Limiter {
  readonly perMinute: number;
  readonly perDay: number;
  admitted = 0;
  refused = 0;
  strikes = 0;
  bans = 0;
  #minute = { start: 0, used: 0, firstRefusedMs: 0, strikes: 0 };
  #day = { start: 0, used: 0 };
  #bannedUntilMs = 0;

  constructor(perMinute: number, perDay: number) {
    this.perMinute = perMinute;
    this.perDay = perDay;
  }

  /** Takes one request and gives its limit headers; `retry-after` among them means refused. */
  take(nowMs: number): Record<string, string> {
    this.#roll(nowMs);
    const isBanned = nowMs < this.#bannedUntilMs;
    const hasRoom = this.#minute.used < this.perMinute && this.#day.used < this.perDay;
    if (hasRoom && !isBanned) {
      this.admitted++;
      this.#minute.used++;
      this.#day.used++;
      return this.#headers(nowMs);
    }
    this.refused++;
    if (!isBanned) this.#strike(nowMs);
    const headers = this.#headers(nowMs);
    const endMs = Number(headers["x-ratelimit-reset"]) * 1000;
    return { ...headers, "retry-after": String(Math.max(1, Math.ceil((endMs - nowMs) / 1000))) };
  }

  get isBanned(): boolean {
    return this.bans > 0;
  }

  #strike(nowMs: number): void {
    if (this.#minute.firstRefusedMs === 0) this.#minute.firstRefusedMs = nowMs;
    if (nowMs - this.#minute.firstRefusedMs <= 1000) return;
    this.strikes++;
    if (++this.#minute.strikes < Math.max(20, this.perMinute / 10)) return;
    this.bans++;
    this.#bannedUntilMs = nowMs + 300_000;
  }

  #roll(nowMs: number): void {
    const minute = Math.floor(nowMs / 60_000) * 60_000;
    const day = Math.floor(nowMs / 86_400_000) * 86_400_000;
    if (minute > this.#minute.start) {
      this.#minute = { start: minute, used: 0, firstRefusedMs: 0, strikes: 0 };
    }
    if (day > this.#day.start) this.#day = { start: day, used: 0 };
  }

  #headers(nowMs: number): Record<string, string> {
    const minuteLeft = this.perMinute - this.#minute.used;
    const dayLeft = this.perDay - this.#day.used;
    const minuteEndMs = this.#minute.start + 60_000;
    const dayEndMs = this.#day.start + 86_400_000;
    const binding =
      dayLeft === 0 || dayLeft < minuteLeft
        ? { limit: this.perDay, left: dayLeft, endMs: dayEndMs }
        : { limit: this.perMinute, left: minuteLeft, endMs: minuteEndMs };
    const ban = { limit: this.perMinute, left: 0, endMs: this.#bannedUntilMs };
    const { limit, left, endMs } = nowMs < this.#bannedUntilMs ? ban : binding;
    const seconds = (ms: number) => Math.ceil((ms - nowMs) / 1000);
    return {
      "x-ratelimit-limit": String(limit),
      "x-ratelimit-remaining": String(left),
      "x-ratelimit-reset": String(Math.ceil(endMs / 1000)),
      ratelimit: `"minute";r=${minuteLeft};t=${seconds(minuteEndMs)}, "day";r=${dayLeft};t=${seconds(dayEndMs)}`,
    };
  }
}
