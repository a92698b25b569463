// Reads features with the SDK for Node, as an application would, and answers a list of questions.
// In: {"url", "token", "questions": [{"feature", "context", "variant": true or false}]}. Out: the answers.

import { Unleash } from "unleash-client";

const chunks = [];
for await (const chunk of process.stdin) chunks.push(chunk);
const job = JSON.parse(Buffer.concat(chunks));

const unleash = new Unleash({
  url: `${job.url}/api/`,
  appName: "node-app",
  customHeaders: { Authorization: job.token },
  disableMetrics: true,
  storageProvider: { set: async () => {}, get: async () => undefined },
});
unleash.on("error", (error) => {
  console.error(String(error));
  process.exit(1);
});
await new Promise((resolve) => unleash.once("synchronized", resolve));

const read = (context) =>
  context.currentTime ? { ...context, currentTime: new Date(context.currentTime) } : context;
const answers = job.questions.map(({ feature, context, variant }) =>
  variant ? unleash.getVariant(feature, read(context)) : unleash.isEnabled(feature, read(context)),
);
console.log(JSON.stringify(answers));
unleash.destroy();
