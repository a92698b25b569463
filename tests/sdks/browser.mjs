// What a page does to read features: with Unleash's SDK for browsers, and with OpenFeature by OFREP.
// Each says in window.said what it sees, and whenever that changes.

import { OpenFeature, ProviderEvents } from "@openfeature/web-sdk";
import { OFREPWebProvider } from "@openfeature/ofrep-web-provider";
import { UnleashClient } from "unleash-proxy-client";

window.said = [];
const say = (facts) => window.said.push(facts);

window.readWithUnleash = async (url, clientKey, context) => {
  const client = new UnleashClient({
    url: `${url}/api/frontend`,
    clientKey,
    appName: "page",
    refreshInterval: 1,
    metricsInterval: 1,
    context,
  });
  client.on("error", (error) => say({ error: JSON.stringify(error) }));
  client.on("impression", ({ featureName, enabled }) => say({ impression: featureName, enabled }));
  const look = () => say({ on: client.isEnabled("cart"), variant: client.getVariant("cart") });
  client.on("update", look);
  client.on("ready", look);
  await client.start();
};

window.readWithOpenFeature = async (url, token, context, changeDetection) => {
  const provider = new OFREPWebProvider({
    baseUrl: url,
    pollInterval: changeDetection === "polling" ? 1000 : 0,
    changeDetection,
    headers: [["Authorization", `Bearer ${token}`]],
  });
  await OpenFeature.setContext(context);
  await OpenFeature.setProviderAndWait(provider);
  const client = OpenFeature.getClient();
  const look = () => {
    const { value, variant, reason } = client.getStringDetails("cart", "the default");
    say({ value, variant, reason });
  };
  look();
  client.addHandler(ProviderEvents.ConfigurationChanged, look);
};
