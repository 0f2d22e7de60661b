/** Checks values against a JSON schema that no kind has, with the messages of the kinds. */
import { Ajv, type ErrorObject } from 'ajv';
import { isRecord } from '../../kube/objects/json.ts';
import { messageFor } from './messages.ts';
import { pathOf } from './path.ts';
import type { Failure } from './runtime.ts';
import type { Problem } from './validate.ts';

/** Returns nothing when the value is valid. It gets its defaults. */
export type SchemaCheck = (value: unknown) => readonly Problem[];

export function compileSchema(schema: object): SchemaCheck {
  // verbose: the errors have the schema, which knows the fields.
  const validate = new Ajv({ allErrors: true, useDefaults: true, verbose: true }).compile(schema);
  return (value) => (validate(value) ? [] : (validate.errors ?? []).map(problemOf));
}

function problemOf(error: ErrorObject): Problem {
  const failure = failureOf(error);
  return { path: pathOf(failure), message: messageFor(failure) };
}

function failureOf({ keyword, instancePath, params, parentSchema }: ErrorObject): Failure {
  const { additionalProperty: field } = params as { readonly additionalProperty?: string };
  if (field === undefined) return { keyword, instancePath, params };
  const properties: unknown = parentSchema?.['properties'];
  const known = isRecord(properties) ? Object.keys(properties) : [];
  return { keyword: 'x-kubenode-fields', instancePath, params: { field, known } };
}
