/** Warnings of `kubenode plan` about policies whose freeze or kill switch is over. Never a refusal: a revert may bring one back. */
import { endedTimes } from '../../defender/policies/ended.ts';
import type { Rendered } from '../../sync/rendered.ts';
import { validPolicySpec } from '../checks/commit-checks.ts';

/** One for each declaration: most clusters have the same policies. */
export function endedTimeWarnings({ targets }: Pick<Rendered, 'targets'>, now: Date): readonly string[] {
  const objects = targets.flatMap(({ units }) => units.flatMap((unit) => unit.objects));
  const found = objects.flatMap(({ object, source }) => {
    const where = `${source.file ?? ''} DefenderPolicy ${object.metadata.name}`;
    const spec = validPolicySpec(object);
    return spec ? endedTimes(spec, now).map(({ path, message }) => `${where}: ${path}: ${message}`) : [];
  });
  return [...new Set(found)];
}
