// An application that asks for the feature "cart" ten times a second and says what it sees.
// Arguments: the address of the server, the token, and perhaps how it learns of changes: streaming,
// or delta. Out: one JSON object a line.

import { Unleash } from "unleash-client";

const [url, token, way] = process.argv.slice(2);
const MODES = { streaming: { type: "streaming" }, delta: { type: "polling", format: "delta" } };
const say = (facts) => console.log(JSON.stringify(facts));

const unleash = new Unleash({
  url: `${url}/api/`,
  appName: "node-app",
  customHeaders: { Authorization: token },
  refreshInterval: 1000,
  metricsInterval: 1000,
  experimentalMode: MODES[way],
  storageProvider: { set: async () => {}, get: async () => undefined },
});
unleash.on("error", (error) => say({ error: String(error) }));
unleash.on("warn", (warning) => say({ error: String(warning) }));
unleash.on("synchronized", () => {
  let before;
  setInterval(() => {
    const on = unleash.isEnabled("cart", { userId: "1" });
    if (on !== before) say({ on });
    before = on;
  }, 100);
});
