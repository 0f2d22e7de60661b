/** Health of kubenode's own kinds: by the conditions that the controller writes for the object's generation. */
import { GROUP } from '../../api/names.ts';
import {
  conditionAt,
  conditionsOf,
  explain,
  failed,
  HEALTHY,
  type HealthFinding,
  progressing,
} from '../../kube/health/finding.ts';
import { conditionStatus } from '../../kube/objects/conditions.ts';
import { valueAt } from '../../kube/objects/json.ts';
import type { KubeObject } from '../../kube/objects/object.ts';

/** Conditions that must be True. A kind that is not listed is healthy once its controller has observed the generation. */
const REQUIRED_CONDITIONS: ReadonlyMap<string, readonly string[]> = new Map([
  ['Machine', ['Ready']],
  ['MachineComponentSet', ['Ready']],
  ['MachineSet', ['MachinesReady', 'UpToDate']],
  ['MachineComponent', ['Accepted']],
  ['NodeRemedier', ['Accepted']],
  ['DefenderPolicy', ['InForce']],
]);

/** Their conditions explain the cause in whole sentences, so that the type of the condition adds nothing. */
const IN_SENTENCES: ReadonlySet<string> = new Set(['MachineComponentSet']);

export function isKubenodeKind({ apiVersion }: KubeObject): boolean {
  return apiVersion.startsWith(`${GROUP}/`);
}

export function kubenodeKindFinding(object: KubeObject, generation: number): HealthFinding {
  const broken = failureOf(object, generation);
  if (broken) return broken;
  const observed = valueAt(object, 'status', 'observedGeneration');
  if (typeof observed !== 'number' || observed < generation) {
    return progressing('NotObservedYet', notObservedText(observed, generation), { hasDeadline: true });
  }
  return requiredFinding(object, generation) ?? permitFinding(object, generation) ?? HEALTHY;
}

/** A cluster without controllers is the first thing to rule out: then nothing else in it goes on. Controllers that run need a second. */
function notObservedText(observed: unknown, generation: number): string {
  return typeof observed === 'number'
    ? `its controller has not observed generation ${generation} yet: if it stays so, check that kubenode controllers runs for this cluster`
    : 'no controller has observed it yet: if it stays so, run kubenode controllers for this cluster';
}

function requiredFinding(object: KubeObject, generation: number): HealthFinding | undefined {
  const conditions = conditionsOf(object);
  for (const type of REQUIRED_CONDITIONS.get(object.kind) ?? []) {
    if (conditionStatus(conditions, type, generation) === 'True') continue;
    const condition = conditionAt(object, type);
    if (!condition) return progressing(type, `${type} is not reported`, { hasDeadline: true });
    const { reason, because, ...rest } = explain(condition);
    const sentence = IN_SENTENCES.has(object.kind) ? condition.message : '';
    return progressing(reason, sentence || because, { ...rest, hasDeadline: true });
  }
  return undefined;
}

/**
 * A rule that asks for a step which none of its machines permits: the commit may permit it there itself, so it is waited for until
 * the deadline of the stage.
 */
function permitFinding(object: KubeObject, generation: number): HealthFinding | undefined {
  if (object.kind !== 'NodeRemedier') return undefined;
  const condition = conditionAt(object, 'StepsPermitted');
  if (condition?.reason !== 'NotPermitted') return undefined;
  if (conditionStatus(conditionsOf(object), 'StepsPermitted', generation) !== 'False') return undefined;
  const { reason, because, ...rest } = explain(condition);
  return progressing(reason, because, rest);
}

/** A failure that was reported for an older generation does not count. */
function failureOf(object: KubeObject, generation: number): HealthFinding | undefined {
  const conditions = conditionsOf(object);
  for (const [type, bad] of [
    ['Stalled', 'True'],
    ['Ready', 'False'],
  ] as const) {
    const condition = conditionAt(object, type);
    if (!condition || conditionStatus(conditions, type, generation) !== bad) continue;
    if (type === 'Ready' && condition.reason !== 'RolledBack') continue;
    const { reason, because, since } = explain(condition);
    return failed(reason, because, since);
  }
  return undefined;
}
