/**
 * Whether an object is one that the API server takes, CEL aside: for `kubenode validate`, for constructs at synth
 * and for sync, before anything is sent. Generated code decides; this file says it in words for people.
 */
import { MAKERS } from '../generated/validators/index.ts';
import { GROUP } from '../names.ts';
import { API_VERSION, VERSION } from '../version.ts';
import { nearest } from './nearest.ts';
import { withoutNulls } from './nulls.ts';
import { pathOf } from './path.ts';
import { type Failure, runtime, type Validate } from './runtime.ts';
import { isUnknownField, withoutNoise, wordsFor } from './words.ts';

export interface Problem {
  /** As `kubectl` writes it: `spec.stages[0].name`. */
  readonly path: string;
  readonly message: string;
}

/** What was parsed from YAML or JSON, and may be anything. */
export interface Candidate {
  readonly apiVersion?: unknown;
  readonly kind?: unknown;
}

/** No problem, or all of them. Objects of other groups are not ours to judge. */
export function validate(object: Candidate): readonly Problem[] {
  const [group, version] = wordOf(object.apiVersion).split('/');
  if (group !== GROUP) return [];
  if (version !== VERSION) {
    return [{ path: 'apiVersion', message: `must be ${API_VERSION}; there is no version "${version}"` }];
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

/** Made when the first object of its kind comes. */
const made = new Map<string, Validate>();

function validatorOf(kind: string): Validate | undefined {
  const known = made.get(kind) ?? MAKERS.get(kind)?.(runtime);
  if (known) made.set(kind, known);
  return known;
}

function problemsOf(holds: Validate, object: Candidate): readonly Problem[] {
  const plain = withoutNulls(object);
  const failures = failuresOf(holds, plain);
  // An unknown field is one also when it is null.
  const more = plain === object ? [] : failuresOf(holds, object).filter(isUnknownField);
  const problems = withoutNoise([...failures, ...more]).map((failure) => ({
    path: pathOf(failure),
    message: wordsFor(failure),
  }));
  // One sentence for one place: the first says enough.
  return [...Map.groupBy(problems, ({ path }) => path).values()].flatMap((same) => same.slice(0, 1));
}

function failuresOf(holds: Validate, object: unknown): readonly Failure[] {
  return holds(object) ? [] : (holds.errors ?? []);
}
