import { render } from "preact";
import { startQueue } from "./approvals/queue";
import { startHealth } from "./core/health";
import { startSession } from "./core/session";
import { startStream } from "./core/stream";
import { startLanguage } from "./core/text";
import { App } from "./shell/app";
import { watchBuild } from "./shell/upgrade";

const root = document.getElementById("app")!;
startHealth();
startQueue();
watchBuild();
void startSession().then(startStream);
void startLanguage().then(() => (root.replaceChildren(), render(<App />, root)));
