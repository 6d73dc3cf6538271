import {
  codeCharactersMax,
  codePattern,
  type FieldKind,
  initialValues,
  listItemsMax,
  type PetField,
  petFields,
  textCharactersMax,
} from "../../../domain/catalogue/pet-fields.ts";
import { quantityMax } from "../../../domain/ledger/inventory.ts";
import { boundedInteger, orNull, type Schema } from "./schema.ts";

/** The details of a pet in the documents of both APIs, from the table of its fields. */

const responses: Readonly<Record<FieldKind, Schema>> = {
  text: { type: "string" },
  optionalText: orNull({ type: "string" }),
  uniqueText: orNull({ type: "string" }),
  texts: { type: "array", items: { type: "string" } },
  optionalInteger: orNull(boundedInteger(0, quantityMax)),
};

const textLength = { minLength: 1, maxLength: textCharactersMax };
/** What a request adds to these schemas. */
const bounds: Readonly<Record<FieldKind, Schema>> = {
  text: textLength,
  optionalText: textLength,
  uniqueText: { minLength: 1, maxLength: codeCharactersMax, pattern: codePattern },
  texts: { items: { type: "string", ...textLength }, maxItems: listItemsMax },
  optionalInteger: {},
};

type Properties = Readonly<Record<string, Schema>>;

function propertiesOf(
  fields: readonly PetField[],
  schemaOf: (field: PetField) => Schema,
): Properties {
  return Object.fromEntries(
    fields.map((field) => [field.name, { ...schemaOf(field), description: field.description }]),
  );
}

export const detailProperties = propertiesOf(petFields, ({ kind }) => responses[kind]);

/** The console shows the titles as the labels of its form. */
export const givenProperties = propertiesOf(petFields, ({ kind, label }) => ({
  ...responses[kind],
  ...bounds[kind],
  title: label,
}));

const [name, category, tags, photoUrls, ...later] = petFields;
/** The fields in the order of the API, which has the photos before the tags. */
export const shownFields = [name!, category!, photoUrls!, tags!, ...later];

/** The fields as the API shows them. A field that it may leave out is never null. */
export const shownProperties = propertiesOf(shownFields, ({ kind, isLeftOutIfNull }) => {
  const schema = responses[kind];
  return isLeftOutIfNull ? { ...schema, type: schema.type![0]! } : schema;
});

/** The fields that the API may leave out. */
export const leftOutFields: readonly string[] = petFields
  .filter(({ isLeftOutIfNull }) => isLeftOutIfNull)
  .map((field) => field.name);

export const examplePet = {
  id: 7,
  ...Object.fromEntries(shownFields.map((field) => [field.name, field.example])),
  status: "available",
};

/** A pet with nothing but its name. */
export const exampleBarePet = {
  ...examplePet,
  ...Object.fromEntries(
    shownFields
      .filter(({ kind }) => initialValues[kind] !== undefined)
      .map((field) => [field.name, field.isLeftOutIfNull ? undefined : initialValues[field.kind]]),
  ),
};
