import {
  type LedgerRow,
  type NamedEntry,
  type PetStatus,
  petStatusValues,
  type VersionedItem,
} from "../client/types.ts";

/** Null and undefined mean that the pet has none. */
interface ListedDetails {
  readonly barcode?: string | null;
  readonly lowStockAt?: number | null;
}
export type Entry = Omit<NamedEntry, keyof ListedDetails> & ListedDetails;

interface LastChange extends LedgerRow {
  /** True if it happened while the page was open. */
  readonly isLive: boolean;
}

/**
 * All entries in columns, so that 100,000 of them are searched and sorted within a frame. A row is an
 * index into the columns. It never changes its meaning: removed rows stay, marked as removed.
 */
export class StockTable {
  readonly ids: string[] = [];
  readonly names: string[] = [];
  readonly quantities: number[] = [];
  /** Indexes into `petStatusValues`. */
  readonly statusCodes: number[] = [];
  readonly versions: number[] = [];
  /** Names in lower case, for sorting. */
  readonly foldedNames: string[] = [];
  /** Id and name in lower case. */
  readonly searchTexts: string[] = [];
  /** The barcodes of the rows that have one. */
  readonly barcodes = new Map<number, string>();
  readonly lowStockAt = new Map<number, number>();
  readonly #rowsByBarcode = new Map<string, number>();
  /** Each category once. The first one, an empty text, stands for none. */
  readonly categories: string[] = [""];
  /** Indexes into `categories`. */
  readonly categoryCodes: number[] = [];
  readonly isRemoved: boolean[] = [];
  readonly lastChanges = new Map<number, LastChange>();
  /** All rows by ascending id, also removed ones. */
  readonly rowsById: number[] = [];
  #rowsByName: Uint32Array | undefined;
  readonly #numericIds: bigint[] = [];
  readonly #rows = new Map<string, number>();
  readonly #codesOfCategories = new Map([["", 0]]);
  #removedCount = 0;

  constructor(entries: readonly Entry[] = []) {
    for (const entry of entries) this.add(entry);
  }

  /** The number of entries, without removed ones. */
  get size(): number {
    return this.ids.length - this.#removedCount;
  }

  findRow(petId: string): number | undefined {
    const row = this.#rows.get(petId);
    return row === undefined || this.isRemoved[row] ? undefined : row;
  }

  /** Finds what was scanned or typed: a barcode, or an id, which may be printed with zeros before it. */
  findScanned(text: string): number | undefined {
    const row = this.#rowsByBarcode.get(text.trim());
    if (row !== undefined && !this.isRemoved[row]) return row;
    const [, sign, digits] = /^\s*(-?)0*(\d{1,19})\s*$/.exec(text) ?? [];
    return digits === undefined ? undefined : this.findRow(`${sign}${digits}`);
  }

  entryAt(row: number): Entry {
    return {
      petId: this.ids[row]!,
      name: this.names[row]!,
      category: this.categories[this.categoryCodes[row]!]! || null,
      barcode: this.barcodes.get(row) ?? null,
      lowStockAt: this.lowStockAt.get(row) ?? null,
      quantity: this.quantities[row]!,
      status: this.statusAt(row),
      version: this.versions[row]!,
    };
  }

  statusAt(row: number): PetStatus {
    return petStatusValues[this.statusCodes[row]!]!;
  }

  /** Adds an entry, or replaces the one with its id unless that is newer. */
  add(entry: Entry): number {
    const known = this.#rows.get(entry.petId);
    const row = known ?? this.#append(entry.petId);
    if (known !== undefined && entry.version < this.versions[row]!) return row;
    if (this.isRemoved[row]) this.#removedCount -= 1;
    this.isRemoved[row] = false;
    this.describe(row, entry);
    this.#setStock(row, entry);
    return row;
  }

  /** Sets what people recognise the pet by, and its threshold. */
  describe(row: number, pet: Pick<Entry, "name" | "category" | keyof ListedDetails>): void {
    const { name, category, barcode, lowStockAt } = pet;
    if (this.names[row] !== name) this.#rowsByName = undefined;
    this.names[row] = name;
    this.foldedNames[row] = foldCase(name);
    this.searchTexts[row] = `${this.ids[row]} ${this.foldedNames[row]}`;
    keep(this.lowStockAt, row, lowStockAt);
    const known = this.barcodes.get(row) ?? "";
    // Another row may have it meanwhile.
    if (this.#rowsByBarcode.get(known) === row) this.#rowsByBarcode.delete(known);
    keep(this.barcodes, row, barcode);
    if (typeof barcode === "string") this.#rowsByBarcode.set(barcode, row);
    this.categoryCodes[row] = this.#codeOf(category ?? "");
  }

  /** All rows by name, also removed ones. Kept until a name changes, because sorting takes long. */
  get rowsByName(): Uint32Array {
    const names = this.foldedNames;
    this.#rowsByName ??= Uint32Array.from(this.rowsById).sort((one, other) => {
      const [a, b] = [names[one]!, names[other]!];
      return a < b ? -1 : a > b ? 1 : 0;
    });
    return this.#rowsByName;
  }

  /** Applies the result of a request, unless the row is newer or unknown. */
  update(entry: VersionedItem): void {
    const row = this.findRow(entry.petId);
    if (row !== undefined && entry.version > this.versions[row]!) this.#setStock(row, entry);
  }

  /** Applies a change of the feed. Returns its row, or undefined if the page has no such entry yet. */
  apply(change: LedgerRow): number | undefined {
    const row = this.#rows.get(change.petId);
    if (row === undefined) return undefined;
    this.lastChanges.set(row, { ...change, isLive: true });
    if (change.seq <= this.versions[row]!) return row;
    if (change.after) {
      if (this.isRemoved[row]) return undefined;
      this.#setStock(row, { ...change.after, version: change.seq });
    } else {
      this.versions[row] = change.seq;
      if (!this.isRemoved[row]) this.#removedCount += 1;
      this.isRemoved[row] = true;
    }
    return row;
  }

  /** Adds who made a change that the entries already contain. */
  explain(change: LedgerRow): void {
    const row = this.findRow(change.petId);
    if (row === undefined || this.versions[row] !== change.seq || this.lastChanges.has(row)) return;
    this.lastChanges.set(row, { ...change, isLive: false });
  }

  #setStock(row: number, entry: Omit<VersionedItem, "petId">): void {
    this.quantities[row] = entry.quantity;
    this.statusCodes[row] = petStatusValues.indexOf(entry.status);
    this.versions[row] = entry.version;
  }

  #codeOf(category: string): number {
    const code = this.#codesOfCategories.get(category) ?? this.categories.push(category) - 1;
    this.#codesOfCategories.set(category, code);
    return code;
  }

  #append(petId: string): number {
    const row = this.ids.length;
    const numericId = BigInt(petId);
    this.ids.push(petId);
    this.#numericIds.push(numericId);
    this.#rows.set(petId, row);
    // Rows arrive in the order of their ids, apart from new pets.
    let position = row;
    while (position > 0 && this.#numericIds[this.rowsById[position - 1]!]! > numericId)
      position -= 1;
    if (position === row) this.rowsById.push(row);
    else this.rowsById.splice(position, 0, row);
    return row;
  }
}

function keep<T>(values: Map<number, T>, row: number, value: T | null | undefined): void {
  if (value === null || value === undefined) values.delete(row);
  else values.set(row, value);
}

/** Lower case without accents, so that "Zoé" is found with "zoe". */
export function foldCase(text: string): string {
  const lower = text.toLowerCase();
  // Most names need no more, and there can be 100,000 of them.
  if (/^[ -~]*$/.test(lower)) return lower;
  return lower.normalize("NFKD").replace(/\p{Mn}/gu, "");
}
