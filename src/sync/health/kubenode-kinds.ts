/** When an object of one of our own kinds is good: by the conditions that its controller writes for its generation. */
import { GROUP } from '../../api/names.ts';
import { statusOf } from '../../kube/objects/conditions.ts';
import { valueAt } from '../../kube/objects/json.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import { conditionAt, conditionsOf, type Finding, failed, GOOD, progressing, saying } from './finding.ts';

/** Conditions that must be True; a kind that is not here is good as soon as its controller has seen it. */
const GOOD_WHEN: ReadonlyMap<string, readonly string[]> = new Map([
  ['Machine', ['Ready']],
  ['MachineComponentSet', ['Ready']],
  ['MachineSet', ['MachinesReady', 'UpToDate']],
  ['MachineComponent', ['Accepted']],
  ['NodeRemedier', ['Accepted']],
  ['DefenderPolicy', ['InForce']],
]);

export function isOurs({ apiVersion }: KubeObject): boolean {
  return apiVersion.startsWith(`${GROUP}/`);
}

export function ourReadiness(object: KubeObject, generation: number): Finding {
  const broken = failureOf(object, generation);
  if (broken) return broken;
  const observed = valueAt(object, 'status', 'observedGeneration');
  if (typeof observed !== 'number' || observed < generation) {
    return progressing('NotObservedYet', `its controller has not seen generation ${generation}`, {
      hasDeadline: true,
    });
  }
  const conditions = conditionsOf(object);
  for (const type of GOOD_WHEN.get(object.kind) ?? []) {
    if (statusOf(conditions, type, generation) === 'True') continue;
    const condition = conditionAt(object, type);
    if (!condition) return progressing(type, `${type} is not reported`, { hasDeadline: true });
    const { reason, ...said } = saying(condition);
    return progressing(reason, said.because, { ...said, hasDeadline: true });
  }
  return GOOD;
}

/** What was said of an older generation is no failure of this one. */
function failureOf(object: KubeObject, generation: number): Finding | undefined {
  const conditions = conditionsOf(object);
  for (const [type, bad] of [
    ['Stalled', 'True'],
    ['Ready', 'False'],
  ] as const) {
    const condition = conditionAt(object, type);
    if (!condition || statusOf(conditions, type, generation) !== bad) continue;
    if (type === 'Ready' && condition.reason !== 'RolledBack') continue;
    const { reason, because, since } = saying(condition);
    return failed(reason, because, since);
  }
  return undefined;
}
