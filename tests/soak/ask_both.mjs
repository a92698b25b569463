// Asks two servers the same questions with the SDK for Node: every feature that both have, for each of 1,000 contexts,
// whether it is on and which variant it gives. Each difference is a line of JSON, as is a feature that only one of
// them has. So is the last line, with the number of answers.
//
//     node tests/soak/ask_both.mjs URL TOKEN URL TOKEN [CONTEXTS]
//
// It ends with 1 if there was a difference. The SDK is that of tests/sdks (make .venv/sdks).

import { createRequire } from "node:module";

const sdks = createRequire(new URL("../sdks/package.json", import.meta.url));
const { Strategy, Unleash } = sdks("unleash-client");

const [firstUrl, firstToken, secondUrl, secondToken, count = "1000"] = process.argv.slice(2);
const CONTEXTS = Number(count);
const say = (facts) => console.log(JSON.stringify(facts));

const COUNTRIES = ["NO", "SE", "DK", "FI", "DE", "FR", "IT", "ES", "PL", "NL"];
const PLANS = ["free", "plus", "gold"];

// An application's own strategy: it must be given its parameters unchanged.
class ByRegion extends Strategy {
  constructor() {
    super("byRegion");
  }

  isEnabled({ regions = "", share = "0", strict }, { userId, properties }) {
    const isThere = regions.split(",").includes(properties?.country);
    return isThere && strict === "true" && Number(userId) % 100 < Number(share);
  }
}

// What is left to chance must fall the same for both.
let chance = 0;
Math.random = () => chance;

function context(number) {
  const properties = {
    country: COUNTRIES[(number * 7) % 11], // undefined for some
    plan: PLANS[(number * 5) % 4],
    age: String(12 + (number % 60)),
    appVersion: `${1 + (number % 6)}.${number % 10}.${number % 3}${number % 8 === 0 ? "-beta.1" : ""}`,
    joined: new Date(Date.UTC(2018 + (number % 9), number % 12, 1 + (number % 28))).toISOString(),
    tenant: `company-${number % 6}`,
  };
  const known = Object.entries(properties).filter(([, value]) => value !== undefined);
  return {
    ...(number % 20 ? { userId: String((number * 13) % 700) } : {}),
    ...(number % 30 ? { sessionId: `session-${number % 400}` } : {}),
    appName: "ask-both",
    currentTime: new Date(Date.UTC(2021 + (number % 10), 5, 1)),
    remoteAddress: number % 3 ? `10.${number % 256}.0.${number % 200}` : "192.168.7.7",
    properties: Object.fromEntries(known),
  };
}

async function client(url, token) {
  const unleash = new Unleash({
    url: `${url}/api/`,
    appName: "ask-both",
    customHeaders: { Authorization: token },
    disableMetrics: true,
    refreshInterval: 3_600_000,
    storageProvider: { set: async () => {}, get: async () => undefined },
    strategies: [new ByRegion()],
  });
  await new Promise((resolve, reject) => {
    unleash.once("synchronized", resolve);
    unleash.once("error", reject);
  });
  return unleash;
}

const both = [await client(firstUrl, firstToken), await client(secondUrl, secondToken)];
const names = both.map((unleash) => unleash.getFeatureToggleDefinitions().map(({ name }) => name));
const held = names.map((each) => new Set(each));
const features = [...new Set(names.flat())].sort().filter((feature) => {
  const [first, second] = held.map((each) => each.has(feature));
  if (first !== second) say({ feature, asked: "exists", first, second });
  return first && second;
});
const missing = held[0].size + held[1].size - 2 * features.length;

let answers = 0;
let on = 0;
let different = missing;
const seen = new Map(features.map((feature) => [feature, new Set()]));
for (let number = 0; number < CONTEXTS; number += 1) {
  const asked = context(number);
  chance = ((number * 37) % 100) / 100;
  for (const feature of features) {
    const [first, second] = both.map((unleash) => {
      const { name, payload } = unleash.getVariant(feature, asked);
      return { enabled: unleash.isEnabled(feature, asked), variant: { name, payload } };
    });
    answers += 2;
    on += first.enabled;
    seen.get(feature).add(`${first.enabled} ${first.variant.name}`);
    if (JSON.stringify(first) !== JSON.stringify(second)) {
      different += 1;
      say({ feature, context: asked, first, second });
    }
  }
}
const byContext = [...seen.values()].filter((each) => each.size > 1).length;
say({ features: features.length, contexts: CONTEXTS, answers, on, byContext, different });
both.forEach((unleash) => unleash.destroy());
process.exitCode = different ? 1 : 0;
