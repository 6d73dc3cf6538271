import { render } from "preact";
import { App } from "./frame/app.tsx";
import { startRouter } from "./router.ts";
import { restoreSession } from "./session.ts";
import { startTheme } from "./theme.ts";

startTheme();
startRouter();
void restoreSession();
render(<App />, document.getElementById("console")!);
