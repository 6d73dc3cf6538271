/** An HTTP response whose body was read completely. */
export interface RawResponse {
  readonly status: number;
  readonly headers: Headers;
  /** The body as sent; empty if there is none, as in a 304. */
  readonly text: string;
}

export function isSuccess({ status }: { readonly status: number }): boolean {
  return (status >= 200 && status < 300) || status === 304;
}
