import { ShownError } from "../client/api.ts";
import type { NewWebhook } from "../client/types.ts";

/** Reads the form of a new webhook. Throws an error for the person if something is wrong with it. */
export function readWebhookForm(form: FormData): NewWebhook {
  const text = (name: string) => String(form.get(name) ?? "").trim();
  const [url, name, below] = [text("url"), text("name"), text("below")];
  if (!/^https?:\/\/\S+$/.test(url)) {
    throw new ShownError("Enter the full URL of the receiver, such as https://example.com/stock.");
  }
  const pets = text("pets")
    .split(/[\s,]+/)
    .filter((id) => id !== "");
  if (!pets.every((id) => /^-?\d{1,19}$/.test(id))) {
    throw new ShownError("Ids of pets are whole numbers. Separate them by commas.");
  }
  if (below !== "" && !/^[1-9]\d{0,14}$/.test(below)) {
    throw new ShownError("The quantity must be a whole number, 1 or more.");
  }
  return {
    url,
    ...(name === "" ? {} : { name }),
    ...(pets.length === 0 ? {} : { pets }),
    ...chosen(form, "statuses"),
    ...chosen(form, "causes"),
    ...(below === "" ? {} : { below: Number(below) }),
  };
}

/** No choice means all. */
function chosen(form: FormData, name: "statuses" | "causes"): Partial<NewWebhook> {
  const values = form.getAll(name);
  return values.length === 0 ? {} : { [name]: values };
}
