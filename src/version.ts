import manifest from "../package.json" with { type: "json" };

/** The version of this release, as package.json has it. */
export function packageVersion(): string {
  return manifest.version;
}

/** The header `User-Agent` of the messages of webhooks. */
export const userAgent = () => `petstore-inventory/${packageVersion()}`;
