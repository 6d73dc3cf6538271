import type { ImportFile } from "../client/types.ts";
import { Select, SelectField } from "../parts/choices.tsx";
import { Table } from "../parts/table.tsx";
import { countOf } from "../texts/formats.ts";
import { checkAgain, rememberHeaders } from "./state.ts";
import type { Upload } from "./upload.ts";

/** How the file was read, and a field to choose for each column with another name. */
export function FoundColumns({
  upload,
  file,
}: {
  readonly upload: Upload;
  readonly file: ImportFile;
}) {
  const { columns, fields, sheets, sheet, delimiter, encoding } = file;
  const hasUnknown = columns.some(({ field }) => field === null);
  const check = (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const chosen = columns
      .map(({ header }, at): [string, string] => [header, String(form.get(`column-${at}`) ?? "")])
      .filter(([, field]) => field !== "");
    const map = { ...upload.map, ...Object.fromEntries(chosen) };
    rememberHeaders(upload.what, map);
    void checkAgain({
      ...upload,
      map,
      sheet: (form.get("sheet") as string | null) ?? upload.sheet,
    });
  };
  const notes = [sheet && `sheet ${sheet}`, delimiter && `separated by ${delimiter}`, encoding];
  const fieldChoices = fields.map((field) => [field, field] as const);
  return (
    <details class="card import-columns" open={hasUnknown}>
      <summary>{[countOf(columns.length, "column"), ...notes].filter(Boolean).join(", ")}</summary>
      <form class="stack" onSubmit={check}>
        {hasUnknown && (
          <p>Some columns have names that are not known here. Choose what each one contains.</p>
        )}
        {sheets.length > 1 && (
          <SelectField
            label="Sheet"
            name="sheet"
            choices={sheets.map((name) => [name, name])}
            value={sheet ?? ""}
          />
        )}
        <Table
          rows={[...columns.entries()]}
          keyOf={([at]) => at}
          caption="Columns of the file"
          columns={[
            {
              title: "Column",
              isMain: true,
              cell: ([, { header }]) => <bdi>{header || "No name"}</bdi>,
            },
            {
              title: "First values",
              class: "import-value",
              cell: ([, { samples }]) => (
                <bdi class="muted">{samples.filter(Boolean).join(" · ")}</bdi>
              ),
            },
            {
              title: "Imported as",
              // A column that is named like a field needs no choice.
              cell: ([at, { header, field }]) =>
                fields.includes(header) || header === "" ? (
                  field || "Must be empty"
                ) : (
                  <Select
                    name={`column-${at}`}
                    label={`${header} is imported as`}
                    choices={[["", "Choose…"], ...fieldChoices, ["ignore", "Leave out"]]}
                    value={field ?? ""}
                  />
                ),
            },
          ]}
        />
        <button type="submit" class="button primary">
          Check with these columns
        </button>
      </form>
    </details>
  );
}
