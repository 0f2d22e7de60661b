/** Which limits a plan is judged by: those of the Pipeline in the repository itself. */
import { listAt, textAt, valueAt } from '../../../kube/objects/json.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';
import type { Limits } from '../../../sync/preview/preview.ts';
import { HUB_TARGET, type Rendered } from '../../../sync/rendered.ts';

/** The budget as it was before the change, so that no commit widens its own; acknowledgements as the change says them. */
export function limitsIn(before: Rendered, after: Rendered): Limits {
  const budget = valueAt(pipelineIn(before), 'spec', 'deleteBudget');
  return {
    budget: {
      maxObjects: numberAt(budget, 'maxObjects', 10),
      maxPercent: numberAt(budget, 'maxPercent', 20),
    },
    acknowledgements: listAt(pipelineIn(after), 'spec', 'acknowledgements').map((one) => ({
      unit: textAt(one, 'unit') ?? '',
      planDigest: textAt(one, 'planDigest') ?? '',
    })),
  };
}

function pipelineIn({ targets }: Rendered): KubeObject | undefined {
  const hub = targets.find(({ target }) => target === HUB_TARGET);
  return hub?.units
    .flatMap(({ objects }) => objects.map(({ object }) => object))
    .find(({ kind }) => kind === 'Pipeline');
}

/** The defaults of the kind, where git leaves them out. */
function numberAt(value: unknown, field: string, standIn: number): number {
  const found = valueAt(value, field);
  return typeof found === 'number' ? found : standIn;
}
