/**
 * Validates objects as the API server does, except for CEL: for `kubenode validate`, for constructs at synth
 * and for sync, before anything is sent. Generated code decides; this file turns errors into messages.
 */
import { MAKERS } from '../generated/validators/index.ts';
import { GROUP } from '../names.ts';
import { API_VERSION, VERSION } from '../version.ts';
import { isUnknownField, messageFor, relevantFailures } from './messages.ts';
import { nearest } from './nearest.ts';
import { withoutNulls } from './nulls.ts';
import { pathOf } from './path.ts';
import { type Failure, runtime, type Validate } from './runtime.ts';

export interface Problem {
  /** In the notation of kubectl: `spec.stages[0].name`. */
  readonly path: string;
  readonly message: string;
}

/** A parsed YAML or JSON document of unknown content. */
export interface Candidate {
  readonly apiVersion?: unknown;
  readonly kind?: unknown;
}

/** All problems of the object. Objects of other API groups have none. */
export function validate(object: Candidate): readonly Problem[] {
  const [group, version] = wordOf(object.apiVersion).split('/');
  if (group !== GROUP) return [];
  if (version !== VERSION) {
    return [{ path: 'apiVersion', message: `must be ${API_VERSION}; unknown version "${version}"` }];
  }
  const holds = validatorOf(wordOf(object.kind));
  return holds ? problemsOf(holds, object) : [unknownKind(wordOf(object.kind))];
}

function wordOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function unknownKind(kind: string): Problem {
  if (kind === '') return { path: 'kind', message: 'is required' };
  const guess = nearest(kind, [...MAKERS.keys()]);
  const hint = guess === undefined ? '' : `; did you mean ${guess}?`;
  return { path: 'kind', message: `${API_VERSION} has no kind "${kind}"${hint}` };
}

/** Validators, compiled at the first object of their kind. */
const made = new Map<string, Validate>();

function validatorOf(kind: string): Validate | undefined {
  const known = made.get(kind) ?? MAKERS.get(kind)?.(runtime);
  if (known) made.set(kind, known);
  return known;
}

function problemsOf(holds: Validate, object: Candidate): readonly Problem[] {
  const plain = withoutNulls(object);
  const failures = failuresOf(holds, plain);
  // An unknown field is an error even if it is null.
  const more = plain === object ? [] : failuresOf(holds, object).filter(isUnknownField);
  const problems = relevantFailures([...failures, ...more]).map((failure) => ({
    path: pathOf(failure),
    message: messageFor(failure),
  }));
  // Only the first problem of each path is reported.
  return [...Map.groupBy(problems, ({ path }) => path).values()].flatMap((same) => same.slice(0, 1));
}

/** The failures of an object of one of our kinds; none for other objects. */
export function schemaFailures(object: Candidate): readonly Failure[] {
  const holds = validatorOf(wordOf(object.kind));
  return holds ? failuresOf(holds, object) : [];
}

function failuresOf(holds: Validate, object: unknown): readonly Failure[] {
  return holds(object) ? [] : (holds.errors ?? []);
}
