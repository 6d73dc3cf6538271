import type { ImportColumn } from "../client/types.ts";
import { Button } from "../parts/button.tsx";
import { SelectField } from "../parts/choices.tsx";
import { takeForm } from "../parts/submission.ts";
import { checkAgain, rememberHeaders } from "./state.ts";
import { examples, type Upload } from "./upload.ts";

interface Props {
  readonly upload: Upload;
  readonly columns: readonly ImportColumn[];
}

/** A field to choose for each column that is not named like one. */
export function ColumnFields({ upload, columns }: Props) {
  const fields = Object.keys(examples[upload.what]);
  const others = columns.filter(({ header }) => header !== "" && !fields.includes(header));
  if (others.length === 0) return null;
  const check = (form: FormData) => {
    const chosen = [...form].filter(([, field]) => field !== "") as [string, string][];
    const map = rememberHeaders(upload.what, { ...upload.map, ...Object.fromEntries(chosen) });
    void checkAgain({ ...upload, map });
  };
  return (
    <details class="card import-columns" open={others.some(({ field }) => field === null)}>
      <summary>Columns with other names</summary>
      <form class="stack" onSubmit={takeForm(check)}>
        <p>Choose what each column contains. It is remembered for the next file.</p>
        {others.map(({ header, field }) => (
          <SelectField
            key={header}
            label={header}
            name={header}
            choices={[
              ["", "Choose…"],
              ...fields.map((name) => [name, name] as const),
              ["ignore", "Leave out"],
            ]}
            value={field ?? ""}
          />
        ))}
        <Button kind="primary">Check with these columns</Button>
      </form>
    </details>
  );
}
