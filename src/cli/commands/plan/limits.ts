/** The limits for a plan: those of the Pipeline in the repository itself. */
import { listAt, textAt, valueAt } from '../../../kube/objects/json.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';
import { DEFAULT_DELETE_BUDGET, type DeleteBudget } from '../../../sync/judge/delete-budget.ts';
import type { PreviewLimits } from '../../../sync/preview/preview.ts';
import { HUB_TARGET, type Rendered } from '../../../sync/rendered.ts';

/** The budget before the change, so that no commit can raise its own budget; the acknowledgements after it. */
export function readLimits(before: Rendered, after: Rendered): PreviewLimits {
  const budget = valueAt(findPipeline(before), 'spec', 'deleteBudget');
  return {
    budget: {
      maxObjects: numberOrDefault(budget, 'maxObjects'),
      maxPercent: numberOrDefault(budget, 'maxPercent'),
    },
    acknowledgements: listAt(findPipeline(after), 'spec', 'acknowledgements').map((one) => ({
      unit: textAt(one, 'unit') ?? '',
      planDigest: textAt(one, 'planDigest') ?? '',
    })),
  };
}

/** The Pipeline that the repository declares for itself. */
export function pipelineNameIn(rendered: Rendered | undefined): string | undefined {
  return rendered && findPipeline(rendered)?.metadata.name;
}

function findPipeline({ targets }: Rendered): KubeObject | undefined {
  const hub = targets.find(({ target }) => target === HUB_TARGET);
  return hub?.units
    .flatMap(({ objects }) => objects.map(({ object }) => object))
    .find(({ kind }) => kind === 'Pipeline');
}

/** The number of that field, or the default of the kind. */
function numberOrDefault(budget: unknown, field: keyof DeleteBudget): number {
  const found = valueAt(budget, field);
  return typeof found === 'number' ? found : DEFAULT_DELETE_BUDGET[field];
}
