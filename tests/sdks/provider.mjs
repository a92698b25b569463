// A real OpenID Connect provider for the tests, with the sign-in page of oidc-provider.
//
// node provider.mjs PORT STATE: the file STATE is read for every request, so that a test can change
// people, clients and what is wrong with the next tokens while it runs.

import { generateKeyPairSync, randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { importJWK, SignJWT, decodeJwt, UnsecuredJWT } from "jose";
import { Provider } from "oidc-provider";

const [port, file] = process.argv.slice(2);
const issuer = `http://127.0.0.1:${port}`;
const state = () => JSON.parse(readFileSync(file, "utf8"));

function newKey() {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  return { ...privateKey.export({ format: "jwk" }), kid: randomUUID(), alg: "RS256", use: "sig" };
}

// What is wrong with a token: changes of its claims, or another way to sign it.
const faults = {
  iss: { iss: "https://login.example.com" },
  aud: { aud: "another-client" },
  azp: { aud: ["another-client", "flagstaff"], azp: "another-client" },
  nonce: { nonce: "another-nonce" },
  exp: { exp: Math.floor(Date.now() / 1000) - 3600 },
  iat: { iat: Math.floor(Date.now() / 1000) + 3600 },
  at_hash: { at_hash: "AAAAAAAAAAAAAAAAAAAAAA" },
  sub: { sub: "" },
};

async function spoiled(token, fault) {
  const claims = { ...decodeJwt(token), ...faults[fault] };
  if (fault === "no nonce") delete claims.nonce;
  if (fault === "none") return new UnsecuredJWT(claims).encode();
  if (fault === "secret") {
    const secret = new TextEncoder().encode(state().client.client_secret);
    return new SignJWT(claims).setProtectedHeader({ alg: "HS256" }).sign(secret);
  }
  const jwk = fault === "key" ? { ...newKey(), kid: key.kid } : key;
  const signed = new SignJWT(claims).setProtectedHeader({ alg: "RS256", kid: jwk.kid });
  return signed.sign(await importJWK(jwk, "RS256"));
}

function build() {
  const provider = new Provider(issuer, {
    clients: [state().client],
    jwks: { keys: [key] },
    cookies: { keys: ["a key of the tests"] },
    scopes: ["openid", "profile", "email", "groups"],
    claims: {
      openid: ["sub", "sid"],
      email: ["email", "email_verified"],
      profile: ["name", "preferred_username"],
      groups: ["groups"],
    },
    conformIdTokenClaims: state().inIdToken === false,
    pkce: { required: () => true },
    features: {
      devInteractions: { enabled: true },
      backchannelLogout: { enabled: true },
      rpInitiatedLogout: { enabled: true },
    },
    // By itself it calls no address of this machine, where Flagstaff is in the tests.
    fetch: (url, { dispatcher, ...options }) => globalThis.fetch(url, options),
    findAccount: (_, id) => {
      return { accountId: id, claims: () => ({ sub: id, ...state().people[id] }) };
    },
    // Everyone agrees that this client may know who they are.
    loadExistingGrant: async (ctx) => {
      const grant = new ctx.oidc.provider.Grant({
        clientId: ctx.oidc.client.clientId,
        accountId: ctx.oidc.session.accountId,
      });
      grant.addOIDCScope("openid profile email groups");
      await grant.save();
      return grant;
    },
  });
  provider.use(async (ctx, next) => {
    await next();
    const fault = state().fault;
    if (ctx.path === "/token" && fault && ctx.body?.id_token) {
      ctx.body = { ...ctx.body, id_token: await spoiled(ctx.body.id_token, fault) };
    }
  });
  return provider.callback();
}

let key = newKey();
let answer = build();
const server = createServer(async (request, response) => {
  if (request.url.startsWith("/sign?")) {
    const claims = JSON.parse(decodeURIComponent(request.url.slice("/sign?".length)));
    const signed = new SignJWT(claims).setProtectedHeader({ alg: "RS256", kid: key.kid });
    response.end(await signed.sign(await importJWK(key, "RS256")));
  } else if (request.url === "/rotate") {
    key = newKey();
    answer = build();
    response.end();
  } else {
    answer(request, response);
  }
});
server.listen(Number(port), "127.0.0.1", () => console.log("ready"));
