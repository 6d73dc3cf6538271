import { embedScript, embedText } from "./embed.ts" with { type: "macro" };

/** The files of the page at /docs. */
export const assets = {
  style: embedText("style.css"),
  icon: embedText("icon.svg"),
  trial: embedScript("trial.ts"),
  request: embedScript("request.ts"),
  json: embedScript("json.ts"),
};
