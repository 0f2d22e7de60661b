/** The Pipeline that a plan is for, and its limits. Pure. */
import { posix } from 'node:path';
import { listAt, textAt, valueAt } from '../../kube/objects/json.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import { optional } from '../../kube/objects/optional.ts';
import type { FieldPolicy } from '../../sync/apply/ownership/ignored-fields.ts';
import {
  type Acknowledgement,
  acknowledgementId,
  DEFAULT_DELETE_BUDGET,
  type DeleteBudget,
} from '../../sync/judge/delete-budget.ts';
import { identityUnitRefusals, identityUnits } from '../../sync/judge/identity-units.ts';
import type { Refusal } from '../../sync/judge/refusal.ts';
import type { PreviewLimits } from '../../sync/preview/preview.ts';
import { strictestBudget } from '../../sync/promote/gates/strictest.ts';
import { declaredPipelines, type Rendered } from '../../sync/rendered.ts';
import { CliError, EXIT } from '../errors.ts';

export interface LimitSides {
  readonly from: Rendered | undefined;
  readonly to: Rendered;
}

/**
 * As sync judges a commit: by the stricter budget of both sides, so that no commit raises its own. An acknowledgement that was
 * there before the change may be spent, which only the inventory of a cluster knows: from commit to commit it releases nothing.
 */
export function readLimits({ from, to }: LimitSides, pipeline: string | undefined): PreviewLimits {
  const [before, after] = [from && findPipeline(from, pipeline), findPipeline(to, pipeline)];
  return {
    budget: strictestBudget(budgetOf(before ?? after), budgetOf(after ?? before)),
    acknowledgements: acknowledgementsOf(after),
    spent: acknowledgementsOf(before).map(acknowledgementId),
    fieldPolicies: fieldPoliciesOf(after),
    forceManagers: forceManagersOf(after).filter((name) => forceManagersOf(before ?? after).includes(name)),
  };
}

/** Returns the refusals of identities of units that the change does not render. */
export function unknownIdentities(
  { from, to }: LimitSides,
  pipeline: string | undefined,
): readonly Refusal[] {
  if (pipeline === undefined) return [];
  return identityUnitRefusals(to, { pipeline, before: identityUnits(from, pipeline) });
}

function fieldPoliciesOf(pipeline: KubeObject | undefined): FieldPolicy[] {
  return listAt(pipeline, 'spec', 'fieldPolicies').map((one) => ({
    kind: textAt(one, 'kind') ?? '',
    path: textAt(one, 'path') ?? '',
    policy: 'Ignore',
    ...optional('unit', textAt(one, 'unit')),
  }));
}

function forceManagersOf(pipeline: KubeObject | undefined): string[] {
  return listAt(pipeline, 'spec', 'forceManagers').filter((name) => typeof name === 'string');
}

function acknowledgementsOf(pipeline: KubeObject | undefined): Acknowledgement[] {
  return listAt(pipeline, 'spec', 'acknowledgements').map((one) => ({
    unit: textAt(one, 'unit') ?? '',
    planDigest: textAt(one, 'planDigest') ?? '',
    reason: textAt(one, 'reason') ?? '',
  }));
}

export interface PipelineChoice {
  /** `--pipeline`. */
  readonly name?: string | undefined;
  /** `--path`: the folder that is rendered. */
  readonly path: string;
}

/**
 * The Pipeline that the commit is promoted by: the only one that the repository declares, or the only one that reads the
 * rendered folder. Undefined if it declares none.
 */
export function choosePipeline({ from, to }: LimitSides, { name, path }: PipelineChoice): string | undefined {
  if (name !== undefined) return name;
  const declared = [
    ...new Set([...declaredPipelines(to), ...(from ? declaredPipelines(from) : [])].map(nameOf)),
  ];
  if (declared.length <= 1) return declared[0];
  const reading = declaredPipelines(to)
    .filter((each) => folderOf(textAt(each, 'spec', 'source', 'path') ?? '.') === folderOf(path))
    .map(nameOf);
  const [only] = reading;
  if (only !== undefined && reading.length === 1) return only;
  throw new CliError(`the repository declares several Pipelines: ${declared.join(', ')}`, {
    hint: 'name the one to plan for with --pipeline',
    exitCode: EXIT.badInput,
  });
}

function folderOf(path: string): string {
  return posix.normalize(`${path}/`);
}

function findPipeline(rendered: Rendered, name: string | undefined): KubeObject | undefined {
  return declaredPipelines(rendered).find((each) => nameOf(each) === name);
}

function nameOf({ metadata }: KubeObject): string {
  return metadata.name;
}

function budgetOf(pipeline: KubeObject | undefined): DeleteBudget {
  const budget = valueAt(pipeline, 'spec', 'deleteBudget');
  return {
    maxObjects: numberOrDefault(budget, 'maxObjects'),
    maxPercent: numberOrDefault(budget, 'maxPercent'),
  };
}

/** The number of that field, or the default of the kind. */
function numberOrDefault(budget: unknown, field: keyof DeleteBudget): number {
  const found = valueAt(budget, field);
  return typeof found === 'number' ? found : DEFAULT_DELETE_BUDGET[field];
}
