// Swagger UI for the person who is signed in: it sends their form token instead of an access token.
const place = document.getElementById("requests");
const dryRun = document.getElementById("dry-run");
const token = document.querySelector("#main [name=csrf_token]").value;
const root = document.documentElement;
const dark = matchMedia("(prefers-color-scheme: dark)");

const followTheme = () =>
  root.classList.toggle("dark-mode", root.dataset.theme ? root.dataset.theme === "dark" : dark.matches);

// What a session may call, without what this page adds to a request, or describes elsewhere.
const shortened = ({ security, ...spec }) => {
  const paths = Object.entries(spec.paths).filter(([path]) => path.startsWith("/api/admin/"));
  for (const operation of paths.flatMap(([, { parameters, ...operations }]) => Object.values(operations))) {
    operation.parameters = operation.parameters?.filter((each) => !each.$ref);
    operation.responses = Object.fromEntries(Object.entries(operation.responses).filter(([, each]) => !each.$ref));
  }
  delete spec.components.securitySchemes;
  return { ...spec, paths: Object.fromEntries(paths) };
};

const addHeaders = (request) => {
  request.headers["X-CSRF-Token"] = token;
  if (!["GET", "HEAD"].includes(request.method)) request.headers["X-Dry-Run"] = String(dryRun.checked);
  return request;
};

// Only the operations, without a second <main>; no command, as it would lack a token; and for
// screen readers no links inside buttons, and a name for the field of the body.
const ours = ({ React: { createElement: make } }) => ({
  components: {
    Requests: ({ getComponent }) =>
      make("div", { className: "swagger-ui" }, ...["FilterContainer", "operations"].map((part) => make(getComponent(part, true)))),
    DeepLink: ({ text }) => make("span", {}, text),
    curl: () => null,
  },
  wrapComponents: { TextArea: (Original) => (given) => make(Original, { "aria-label": "Body", ...given }) },
});

followTheme();
dark.addEventListener("change", followTheme);
const answer = await fetch(place.dataset.openapi);
SwaggerUIBundle({
  domNode: place,
  spec: shortened(await answer.json()),
  requestInterceptor: addHeaders,
  plugins: [ours],
  layout: "Requests",
  deepLinking: true,
  defaultModelsExpandDepth: -1,
  displayRequestDuration: true,
  docExpansion: "none",
  filter: true,
  tryItOutEnabled: true,
  validatorUrl: null,
});
for (const hidden of document.querySelectorAll("[data-try][hidden]")) hidden.hidden = false;
