/** Sends requests to the receivers of webhooks: to public addresses, and to those that are allowed. */
export interface WebhookSender {
  /**
   * Throws InvalidField `url` if no attempt could ever be sent to this address: because of its
   * spelling, or because its host resolves to an address that is not allowed. Returns false if the
   * host does not resolve at the moment.
   */
  checkUrl(url: string): Promise<boolean>;
  /** Makes one attempt, within a fixed time. Never throws and never follows a redirect. */
  send(request: WebhookRequest, signal: AbortSignal): Promise<WebhookAnswer>;
}

export interface WebhookRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface WebhookAnswer {
  /** The HTTP status, or null if no complete response head arrived. */
  readonly status: number | null;
  /** Why there is no status; null if there is one. */
  readonly error: string | null;
  /** The value of Retry-After, if the response has a valid one. */
  readonly retryAfterMs: number | null;
  readonly durationMs: number;
  /** The beginning of the body as text, at most `answerBytesMax` bytes. */
  readonly text: string;
}
