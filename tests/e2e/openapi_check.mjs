// Checks samples against an OpenAPI document: node openapi_check.mjs FOLDER < {document, samples: [{method, path, status, body}]}
// Prints a list of the mismatches.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";

const need = createRequire(process.argv[2] + "/package.json");
const Ajv = need("ajv/dist/2020").default;
const { document, samples } = JSON.parse(readFileSync(0, "utf8"));
const ajv = new Ajv({ strict: false, allErrors: true });
ajv.addSchema({ ...document, $id: "api" });

const found = [];
for (const { method, path, status, body } of samples) {
  const name = `${method} ${path} ${status}`;
  const response = document.paths[path]?.[method]?.responses[String(status)];
  if (response === undefined) {
    found.push(`${name}: the document has no such answer`);
    continue;
  }
  const problem = response.$ref !== undefined;
  const schema = problem ? { $ref: "api#/components/schemas/Problem" } : Object.values(response.content ?? {})[0]?.schema;
  if (schema === undefined || body === null) continue;
  const validate = ajv.compile(schema);
  if (!validate(body)) found.push(`${name}: ${ajv.errorsText(validate.errors)}`);
}
console.log(JSON.stringify(found));
