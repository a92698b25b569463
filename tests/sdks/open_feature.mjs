// Asks for features with OpenFeature by OFREP, as a server would.
// In: {"url", "token", "questions": [{"key", "default", "context"}]}. Out: the details of each.

import { OFREPProvider } from "@openfeature/ofrep-provider";
import { OpenFeature } from "@openfeature/server-sdk";

const chunks = [];
for await (const chunk of process.stdin) chunks.push(chunk);
const job = JSON.parse(Buffer.concat(chunks));

const headers = [["Authorization", `Bearer ${job.token}`]];
await OpenFeature.setProviderAndWait(new OFREPProvider({ baseUrl: job.url, headers }));
const client = OpenFeature.getClient();
const kinds = { boolean: "Boolean", string: "String", number: "Number", object: "Object" };
const answers = [];
for (const { key, default: otherwise, context } of job.questions) {
  const ask = `get${kinds[typeof otherwise]}Details`;
  const { value, variant, reason, errorCode = null } = await client[ask](key, otherwise, context);
  answers.push({ value, variant, reason, errorCode });
}
console.log(JSON.stringify(answers));
