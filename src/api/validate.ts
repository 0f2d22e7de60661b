/**
 * Whether an object is one that the API server takes, CEL aside: for `kubenode validate`, for constructs at synth
 * and for sync, before anything is sent. Generated code decides; this file says it in words for people.
 */
import { VALIDATORS } from './generated/validators/index.ts';
import { GROUP } from './names.ts';
import { nearest } from './validation/nearest.ts';
import { pathOf } from './validation/path.ts';
import { type Failure, withoutNoise, wordsFor } from './validation/words.ts';
import { API_VERSION, VERSION } from './version.ts';

export interface Problem {
  /** As `kubectl` writes it: `spec.stages[0].name`. */
  readonly path: string;
  readonly message: string;
}

export interface Validator {
  readonly validate: {
    (object: unknown): boolean;
    readonly errors?: readonly Failure[] | null;
  };
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
  const validator = VALIDATORS.get(wordOf(object.kind));
  return validator ? problemsOf(validator, object) : [unknownKind(wordOf(object.kind))];
}

function wordOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function unknownKind(kind: string): Problem {
  if (kind === '') return { path: 'kind', message: 'is required' };
  const guess = nearest(kind, [...VALIDATORS.keys()]);
  const hint = guess === undefined ? '' : `; did you mean ${guess}?`;
  return { path: 'kind', message: `${API_VERSION} has no kind "${kind}"${hint}` };
}

function problemsOf({ validate: holds }: Validator, object: Candidate): readonly Problem[] {
  if (holds(object)) return [];
  const problems = withoutNoise(holds.errors ?? []).map((failure) => ({
    path: pathOf(failure),
    message: wordsFor(failure),
  }));
  // One sentence for one place: the first says enough.
  return [...Map.groupBy(problems, ({ path }) => path).values()].flatMap((same) => same.slice(0, 1));
}
