import type { ViewProps } from "../parts/view.ts";
import { WebhookDetail } from "./detail.tsx";
import { WebhookList } from "./list.tsx";

/** /webhooks lists all webhooks, /webhooks/ID shows one. */
export default function WebhooksView({ rest }: ViewProps) {
  return rest === "" ? <WebhookList /> : <WebhookDetail key={rest} id={rest} />;
}
