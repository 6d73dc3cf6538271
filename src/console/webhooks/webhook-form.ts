/** What a form says about a new webhook, as the operator API takes it. */
export interface WebhookInput {
  url: string;
  name?: string;
  pets?: readonly string[];
  statuses?: readonly string[];
  causes?: readonly string[];
  below?: number;
}

export type WebhookReading = { readonly input: WebhookInput } | { readonly error: string };

export function readWebhookForm(form: FormData): WebhookReading {
  const text = (name: string) => String(form.get(name) ?? "").trim();
  const url = text("url");
  if (!/^https?:\/\/\S+$/.test(url)) {
    return { error: "Enter the full URL of the receiver, such as https://example.com/stock." };
  }
  const input: WebhookInput = { url };
  if (text("name") !== "") input.name = text("name");
  const pets = text("pets")
    .split(/[\s,]+/)
    .filter((id) => id !== "");
  if (!pets.every((id) => /^-?\d{1,19}$/.test(id))) {
    return { error: "Ids of pets are whole numbers. Separate them by commas." };
  }
  if (pets.length > 0) input.pets = pets;
  for (const name of ["statuses", "causes"] as const) {
    const chosen = form.getAll(name).map(String);
    if (chosen.length > 0) input[name] = chosen;
  }
  const below = text("below");
  if (below !== "" && !/^[1-9]\d{0,14}$/.test(below)) {
    return { error: "The quantity must be a whole number, 1 or more." };
  }
  if (below !== "") input.below = Number(below);
  return { input };
}
