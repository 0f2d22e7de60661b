/**
 * Fields of a policy that this version does not act on. A limit that does nothing would be taken for protection, so such a
 * policy is refused: by the judge of sync before it is applied, and by the Defender, which then denies every ask. Pure.
 */
import { isDeepStrictEqual } from 'node:util';
import type { DefenderPolicy } from '../../api/generated/types.ts';
import type { Problem } from '../../api/validation/validate.ts';
import { isRecord, listAt, textAt, valueAt } from '../../kube/objects/json.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import { DIMENSIONS } from '../facts/dimensions.ts';
import { BLOCKING_PODS } from '../facts/observed-views.ts';
import { policyProblems } from './problems.ts';

type Spec = unknown;
type Check = (spec: Spec) => readonly Problem[];

/** Of a policy as git contains it: fields that have a default may be absent. */
export function unsupportedPolicyFields({ spec }: Pick<KubeObject, 'spec'>): readonly Problem[] {
  return CHECKS.flatMap((check) => check(spec));
}

/** Why the Defender does not decide by a policy. */
export function acceptanceProblems(policy: DefenderPolicy): readonly string[] {
  const unsupported = unsupportedPolicyFields(policy).map(({ path, message }) => `${path}: ${message}`);
  return [...policyProblems(policy), ...unsupported];
}

const NOT_YET = 'not supported in this version: remove it';
const OBSERVED_ONLY = `not observed in this version: use ${DIMENSIONS.join(', ')}`;

const CHECKS: readonly Check[] = [
  whenListed(['selfDoubt', 'secondVantage']),
  whenListed(['blockers', 'promql']),
  (spec) =>
    listAt(spec, 'blockers', 'foreign').flatMap((sign, index) =>
      textAt(sign, 'lease') === undefined
        ? []
        : [
            {
              path: `spec.blockers.foreign[${index}].lease`,
              message: `${NOT_YET}, or name a taint or label`,
            },
          ],
    ),
  (spec) =>
    listAt(spec, 'blockers', 'podLabels').flatMap((label, index) =>
      label === BLOCKING_PODS
        ? []
        : [
            {
              path: `spec.blockers.podLabels[${index}]`,
              message: `only ${BLOCKING_PODS} is supported in this version`,
            },
          ],
    ),
  whenDiffers(['capacity', 'simulateScheduling'], false),
  whenDiffers(['capacity', 'replacementFirst'], false),
  (spec) => {
    const found = valueAt(spec, 'capacity', 'minFreePercent');
    const isSet = isRecord(found) && Object.keys(found).length > 0;
    return isSet ? [{ path: 'spec.capacity.minFreePercent', message: NOT_YET }] : [];
  },
  whenDiffers(['drain', 'maxBudgetWaitSeconds'], 1800),
  whenDiffers(['drain', 'then'], 'RequestApproval'),
  whenDiffers(['ruleWaves', 'waves'], [1, '5%', '20%', '100%']),
  whenDiffers(['ruleWaves', 'soakSeconds'], 1800),
  whenDiffers(['ruleWaves', 'minSuccessPercent'], 90),
  (spec) => listAt(spec, 'breakers').flatMap(breakerProblems),
];

function breakerProblems(breaker: unknown, index: number): readonly Problem[] {
  const type = textAt(breaker, 'type') ?? '';
  if (type === 'CommonCause') return causeProblems(breaker, `spec.breakers[${index}]`);
  if (type !== 'IndeterminateRatio') return [];
  return [{ path: `spec.breakers[${index}].type`, message: `${type} is ${NOT_YET}` }];
}

function causeProblems(breaker: unknown, path: string): readonly Problem[] {
  const dimensions = listAt(breaker, 'dimensions');
  return [
    ...(textAt(breaker, 'per') === 'Cluster'
      ? []
      : [{ path: `${path}.per`, message: 'only Cluster is supported in this version for CommonCause' }]),
    ...(dimensions.length === 0 ? [{ path: `${path}.dimensions`, message: 'name at least one' }] : []),
    ...dimensions.flatMap((dimension, index) =>
      typeof dimension === 'string' && DIMENSIONS.includes(dimension)
        ? []
        : [{ path: `${path}.dimensions[${index}]`, message: OBSERVED_ONLY }],
    ),
  ];
}

function whenListed(path: readonly string[]): Check {
  return (spec) => (listAt(spec, ...path).length === 0 ? [] : [problemAt(path)]);
}

/** A field with its default changes nothing. */
function whenDiffers(path: readonly string[], usual: unknown): Check {
  return (spec) => {
    const found = valueAt(spec, ...path);
    return found === undefined || isDeepStrictEqual(found, usual) ? [] : [problemAt(path)];
  };
}

function problemAt(path: readonly string[]): Problem {
  return { path: ['spec', ...path].join('.'), message: NOT_YET };
}
