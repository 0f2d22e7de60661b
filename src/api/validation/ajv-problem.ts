/** Describes an error of ajv for people, as the errors of objects are described. For an Ajv with the option `verbose`. */
import type { ErrorObject } from 'ajv';
import { isRecord } from '../../kube/objects/json.ts';
import { messageFor } from './messages.ts';
import { pathOf } from './path.ts';
import type { Failure } from './runtime.ts';
import type { Problem } from './validate.ts';

export function ajvProblem(error: ErrorObject): Problem {
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
