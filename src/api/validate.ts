/**
 * Whether an object is one that the API server takes, CEL aside: for `kubenode validate`, for constructs at synth
 * and for sync, before anything is sent. Generated code decides; this file says it in words for people.
 */
import type { KubeObject } from '../kube/object.ts';
import { VALIDATORS } from './generated/validators/index.ts';
import { GROUP } from './names.ts';
import { nearest } from './validation/nearest.ts';
import { pathOf } from './validation/path.ts';
import { type Failure, withoutNoise, wordsFor } from './validation/words.ts';
import { VERSION } from './version.ts';

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

/** No problem, or all of them. Objects of other groups are not ours to judge. */
export function validate(object: KubeObject): readonly Problem[] {
  const [group, version] = groupAndVersion(object);
  if (group !== GROUP) return [];
  if (version !== VERSION)
    return [{ path: 'apiVersion', message: `must be ${GROUP}/${VERSION}; there is no version "${version}"` }];
  const validator = VALIDATORS.get(object.kind);
  return validator ? problemsOf(validator, object) : [unknownKind(object.kind)];
}

function groupAndVersion({ apiVersion }: KubeObject): readonly [string, string] {
  const [group = '', version = ''] = String(apiVersion).split('/');
  return [group, version];
}

function unknownKind(kind: string): Problem {
  const guess = nearest(String(kind), [...VALIDATORS.keys()]);
  const hint = guess === undefined ? '' : `; did you mean ${guess}?`;
  return { path: 'kind', message: `${GROUP}/${VERSION} has no kind "${kind}"${hint}` };
}

function problemsOf({ validate: holds }: Validator, object: KubeObject): readonly Problem[] {
  if (holds(object)) return [];
  const problems = withoutNoise(holds.errors ?? []).map((failure) => ({
    path: pathOf(failure),
    message: wordsFor(failure),
  }));
  // One sentence for one place: the first says enough.
  return [...Map.groupBy(problems, ({ path }) => path).values()].flatMap((same) => same.slice(0, 1));
}
