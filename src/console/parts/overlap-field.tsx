import { SelectField } from "./choices.tsx";

const overlaps = [
  ["0", "Not at all"],
  ["3600", "1 hour"],
  ["86400", "1 day"],
  ["604800", "7 days"],
  ["2592000", "30 days"],
] as const;

interface Props {
  /** For example "How long the old key still works". */
  readonly label: string;
  /** False if the old secret is needed for a while. */
  readonly canEndAtOnce: boolean;
}

/** How long an old secret works beside the new one. */
export function OverlapField({ label, canEndAtOnce }: Props) {
  const choices = canEndAtOnce ? overlaps : overlaps.slice(1);
  return <SelectField id="overlap" name="overlap" label={label} choices={choices} value="86400" />;
}

export function readOverlap(form: FormData): { readonly overlapSeconds: number } {
  return { overlapSeconds: Number(form.get("overlap")) };
}
