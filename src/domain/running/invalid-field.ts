import { ServiceError } from "./errors.ts";

/**
 * An input field breaks a rule. The message names the field as the domain does. A caller that uses
 * another name, such as a flag of the command line, builds its own message from `field` and `rule`.
 */
export class InvalidField extends ServiceError {
  readonly field: string;
  /** The rest of a sentence that starts with the field's name: "must be …". */
  readonly rule: string;

  constructor(field: string, rule: string) {
    super("invalid_request", `Field '${field}' ${rule}.`);
    this.field = field;
    this.rule = rule;
  }
}
