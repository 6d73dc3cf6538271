/** The command that restores a backup as a test, from any folder of the machine of the service. */
export function drillCommand(folder: string | null, name: string | undefined): string {
  if (name === undefined) return "petstore drill FILE";
  return `petstore drill ${quoted(folder === null ? name : `${folder}/${name}`)}`;
}

/** A shell would split a path with spaces, or worse. */
function quoted(path: string): string {
  return /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`;
}
