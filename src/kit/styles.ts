import components from "./components.css" with { type: "text" };
import tokens from "./tokens.css" with { type: "text" };

/** The style sheet of the kit, for a page that is not bundled. */
export const kitStyles: string = tokens + components;
