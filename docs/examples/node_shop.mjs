// A shop with a checkout in one step, for users with the feature checkout.express.
//
// npm install unleash-client
// export FLAGSTAFF_URL=http://127.0.0.1:4242/api/ FLAGSTAFF_SDK_TOKEN=…
// node node_shop.mjs

import { createServer } from "node:http";
import { startUnleash } from "unleash-client";

const features = await startUnleash({
  url: process.env.FLAGSTAFF_URL,
  appName: "node-shop",
  customHeaders: { Authorization: process.env.FLAGSTAFF_SDK_TOKEN },
});

createServer((request, response) => {
  const { searchParams } = new URL(request.url, "http://shop");
  const user = { userId: searchParams.get("user") ?? "" };
  response.end(features.isEnabled("checkout.express", user) ? "Buy now" : "Go to checkout");
}).listen(process.env.PORT ?? 3000);
