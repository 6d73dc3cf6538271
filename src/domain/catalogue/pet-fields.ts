import { quantityRule, readQuantity } from "../ledger/inventory.ts";
import { InvalidField } from "../running/errors.ts";

/** What a field of a pet can hold, by kind. */
interface Values {
  /** Required for a new pet. */
  text: string;
  optionalText: string | null;
  /** A short text that only one pet has. Its column needs a unique index. */
  uniqueText: string | null;
  texts: readonly string[];
  /** From 0 to the largest quantity. */
  optionalInteger: number | null;
}

export type FieldKind = keyof Values;

type Field<Kind extends FieldKind = FieldKind> = Kind extends FieldKind
  ? {
      /** Its name in JSON and in the header of a CSV file. */
      readonly name: string;
      readonly kind: Kind;
      /** Its column in the table of pets. */
      readonly column: string;
      /** Its label in forms. */
      readonly label: string;
      readonly description: string;
      readonly example: Values[Kind];
      /** Whether the API omits the field if it is null. Clients rely on the other fields. */
      readonly isLeftOutIfNull?: true;
    }
  : never;

/**
 * The details of a pet: what the catalogue keeps about it. Files, both stores, both APIs, the console
 * and `petstore verify` derive from this table. Backups have the columns in this order, so a new field
 * goes at the end.
 */
const table = [
  {
    name: "name",
    kind: "text",
    column: "name",
    label: "Name",
    description: "The name of the pet.",
    example: "Biscuit",
  },
  {
    name: "category",
    kind: "optionalText",
    column: "category",
    label: "Category",
    description: "The category of the pet, or null.",
    example: "dogs",
  },
  {
    name: "tags",
    kind: "texts",
    column: "tags",
    label: "Tags",
    description: "Labels that the store uses to group pets.",
    example: ["small", "house-trained"],
  },
  {
    name: "photoUrls",
    kind: "texts",
    column: "photo_urls",
    label: "Photo URLs",
    description: "URLs of photos, in display order.",
    example: ["https://photos.example/biscuit.jpg"],
  },
  {
    name: "barcode",
    kind: "uniqueText",
    column: "barcode",
    label: "Barcode",
    description: "The barcode of the pet. No other pet has it.",
    example: "4006381333931",
    isLeftOutIfNull: true,
  },
  {
    name: "lowStockAt",
    kind: "optionalInteger",
    column: "low_stock_at",
    label: "Low stock at",
    description: "The stock of the pet is low at this quantity and below.",
    example: 3,
    isLeftOutIfNull: true,
  },
] as const satisfies readonly Field[];

type Row = (typeof table)[number];

/** What the catalogue says about a pet. Its quantity and status are in the inventory. */
export type PetDetails = { readonly [One in Row as One["name"]]: Values[One["kind"]] };

export type PetField = Field & { readonly name: keyof PetDetails };
export const petFields: readonly PetField[] = table;

/** A rule for a value that was given. */
export interface Rule<T> {
  /** The end of the error message. */
  readonly text: string;
  /** What to do about certain values. Follows the message. */
  readonly advice?: (value: unknown) => string;
  /** Returns undefined for a value that breaks the rule. */
  readonly read: (value: unknown) => T | undefined;
}

export const textCharactersMax = 1_000;
export const listItemsMax = 100;
export const codeCharactersMax = 100;
/** Printable ASCII, as scanners send it. No blanks at the ends, which nobody would see. */
export const codePattern = "^[!-~](?:[ -~]*[!-~])?$";
const code = new RegExp(codePattern);
/** A number of which a spreadsheet program has kept a few digits. */
const shortened = /^\d(?:[.,]\d+)?E\+\d+$/;
const codeText = `a text of 1 to ${codeCharactersMax} printable ASCII characters, without blanks at its ends`;

const textRule: Rule<string> = {
  text: `must be a text of 1 to ${textCharactersMax} characters`,
  read: (value) => (isText(value) ? value : undefined),
};

const codeRule: Rule<string> = {
  text: `must be ${codeText}, and no shortened number such as 4.00638E+12`,
  read: (value) => (isText(value) && isCode(value) ? value : undefined),
};

function isCode(text: string): boolean {
  return text.length <= codeCharactersMax && code.test(text) && !shortened.test(text);
}

/** A fraction, or thousands. */
export const ambiguousNumber = /^-?[1-9][0-9]{0,2}[.,][0-9]{3}$/;

export const integerRule: Rule<number> = {
  text: quantityRule,
  advice: (value) =>
    typeof value === "string" && ambiguousNumber.test(value)
      ? "; it can mean a fraction or thousands, so write it without the mark"
      : "",
  read: readQuantity,
};

export const fieldRules: { readonly [Kind in FieldKind]: Rule<Values[Kind]> } = {
  text: textRule,
  optionalText: orNull(textRule),
  uniqueText: orNull(codeRule),
  texts: {
    text: `must be a list of at most ${listItemsMax} texts of 1 to ${textCharactersMax} characters`,
    read: (value) =>
      Array.isArray(value) && value.length <= listItemsMax && value.every(isText)
        ? value
        : undefined,
  },
  optionalInteger: orNull(integerRule),
};

/** The default value for a new pet. Undefined if the field is required. */
export const initialValues: { readonly [Kind in FieldKind]: Values[Kind] | undefined } = {
  text: undefined,
  optionalText: null,
  uniqueText: null,
  texts: [],
  optionalInteger: null,
};

/** Returns the values that are details of a pet. Throws if one breaks its rule. */
export function readDetails(values: Readonly<Record<string, unknown>>): Partial<PetDetails> {
  const details: Record<string, unknown> = {};
  for (const { name, kind } of petFields) {
    if (!Object.hasOwn(values, name)) continue;
    const rule = fieldRules[kind];
    details[name] = rule.read(values[name]);
    if (details[name] === undefined) throw new InvalidField(name, rule.text);
  }
  return details;
}

/** The message if another pet has a value that only one may have. */
export function valueTaken(label: string, value: string, petId: bigint): string {
  return `Pet ${petId} has the ${label.toLowerCase()} ${value} already.`;
}

function orNull<T>(rule: Rule<T>): Rule<T | null> {
  return { ...rule, read: (value) => (value === null ? null : rule.read(value)) };
}

/** Rejects NUL and unpaired surrogates, so that both engines can store the text unchanged. */
function isText(value: unknown): value is string {
  return (
    typeof value === "string" &&
    value.length > 0 &&
    value.length <= textCharactersMax &&
    value.isWellFormed() &&
    !value.includes("\0")
  );
}
