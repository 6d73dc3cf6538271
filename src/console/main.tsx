import { render } from "preact";
import { restoreSession } from "./client/session.ts";
import { App } from "./frame/app.tsx";
import { startRouter } from "./page/router.ts";
import { startTheme } from "./page/theme.ts";

startTheme();
startRouter();
void restoreSession();
render(<App />, document.getElementById("console")!);
