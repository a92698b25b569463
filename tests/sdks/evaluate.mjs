// Evaluates states as the SDK for Node does, one JSON line after the other.
// In: {"state": what is delivered, "contexts": […]}. Out: for each context the features that are on, with variants.

import { createRequire } from "node:module";
import { createInterface } from "node:readline";

const lib = createRequire(import.meta.url).resolve("unleash-client").replace(/index\.js$/, "");
const load = createRequire(lib);
const { default: UnleashClient } = load("./client.js");
const { defaultStrategies } = load("./strategy/index.js");

for await (const line of createInterface({ input: process.stdin })) {
  const { state, contexts } = JSON.parse(line);
  const features = new Map(state.features.map((feature) => [feature.name, feature]));
  const segments = new Map(state.segments.map((segment) => [segment.id, segment]));
  const repository = {
    getToggle: (name) => features.get(name),
    getSegment: (id) => segments.get(id),
  };
  const client = new UnleashClient(repository, defaultStrategies);
  const answers = contexts.map((context) => {
    const variants = [...features.keys()].map((name) => [name, client.getVariant(name, context)]);
    return Object.fromEntries(variants.filter(([, variant]) => variant.feature_enabled));
  });
  console.log(JSON.stringify(answers));
}
