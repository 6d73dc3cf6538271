import type { ImportColumn, ImportFile } from "../client/types.ts";
import { Select, SelectField } from "../parts/choices.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { countOf } from "../texts/formats.ts";
import { writeHeaders } from "./header-storage.ts";
import { checkAgain } from "./state.ts";
import type { Upload } from "./upload.ts";

interface Props {
  readonly upload: Upload;
  readonly file: ImportFile;
}

/** How the file was read, and a field to choose for each column with another name. */
export function FoundColumns({ upload, file }: Props) {
  const { columns, fields, sheets, sheet } = file;
  const hasUnknown = columns.some(({ field }) => field === null);
  const check = (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const map: Record<string, string> = { ...upload.map };
    for (const [at, { header }] of columns.entries()) {
      const chosen = form.get(`column-${at}`);
      if (chosen === "") delete map[header];
      else if (typeof chosen === "string") map[header] = chosen;
    }
    writeHeaders(upload.what, map);
    const other = form.get("sheet");
    const place = typeof other === "string" ? { sheet: other } : {};
    void checkAgain({ ...upload, ...place, map });
  };
  const cells: readonly Column<readonly [number, ImportColumn]>[] = [
    {
      title: "Column",
      isMain: true,
      cell: ([, { header }]) => <bdi>{header || <span class="muted">No name</span>}</bdi>,
    },
    {
      title: "First values",
      class: "import-value",
      cell: ([, { samples }]) => <bdi class="muted">{samples.filter(Boolean).join(" · ")}</bdi>,
    },
    {
      title: "Imported as",
      cell: ([at, column]) => <FieldChoice at={at} column={column} fields={fields} />,
    },
  ];
  return (
    <details class="card import-columns" open={hasUnknown}>
      <summary>{[countOf(columns.length, "column"), ...notesOf(file)].join(", ")}</summary>
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
          columns={cells}
          caption="Columns of the file"
        />
        <button type="submit" class="button primary">
          Check with these columns
        </button>
      </form>
    </details>
  );
}

function notesOf({ encoding, delimiter, sheet }: ImportFile): readonly string[] {
  const delimited = delimiter === null ? null : `separated by ${delimiter}`;
  const named = sheet === null ? null : `sheet ${sheet}`;
  return [named, delimited, encoding].filter((note) => note !== null);
}

interface ChoiceProps {
  readonly at: number;
  readonly column: ImportColumn;
  readonly fields: readonly string[];
}

/** A column that is named like a field needs no choice. */
function FieldChoice({ at, column: { header, field }, fields }: ChoiceProps) {
  if (header === "") return <span class="muted">Must be empty</span>;
  if (fields.includes(header)) return field;
  const choices = fields.map((one) => [one, one] as const);
  return (
    <Select
      name={`column-${at}`}
      label={`${header} is imported as`}
      choices={[["", "Choose…"], ...choices, ["ignore", "Leave out"]]}
      value={field ?? ""}
    />
  );
}
