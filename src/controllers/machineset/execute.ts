/** Carries out the plan of a set. One machine that fails keeps no other; a deletion needs its grant first. */
import { MACHINE_SETS, MACHINES } from '../../api/generated/resources.ts';
import type { MachineSet } from '../../api/generated/types.ts';
import type { Grant, GrantAsk, GrantPort } from '../../api/grants.ts';
import { EVENT_PREFIX, MANAGER_MACHINESET } from '../../api/names.ts';
import { isKubeError } from '../../kube/client/errors.ts';
import type { ReconcileContext } from '../../kube/controller/reconcile-context.ts';
import { optional } from '../../kube/objects/optional.ts';
import { runConcurrently } from '../../kube/process/run-concurrently.ts';
import type { MachineSetAction, MachineSetPlan } from './actions.ts';
import { adoptedReferences, releasedReferences } from './ownership.ts';
import type { DeniedDeletion } from './status.ts';
import { machineIntent } from './template.ts';

export interface Execution {
  readonly set: MachineSet;
  readonly plan: Pick<MachineSetPlan, 'actions'>;
  readonly grants: Pick<GrantPort, 'ask' | 'settle'>;
  readonly context: ReconcileContext;
}

export interface ExecutionResult {
  readonly denials: readonly DeniedDeletion[];
  /** The first error, when all is tried. */
  readonly failure?: Error;
}

type Deletion = Extract<MachineSetAction, { type: 'Delete' }>;
type Write = Exclude<MachineSetAction, Deletion>;

export async function carryOut(execution: Execution): Promise<ExecutionResult> {
  const { actions } = execution.plan;
  const deletions = actions.filter((action) => action.type === 'Delete');
  const writes = actions.filter((action) => action.type !== 'Delete');
  const failures = (await runConcurrently(writes, (action) => failureOf(write(action, execution)))).flat();
  const denials: DeniedDeletion[] = [];
  failures.push(...(await failureOf(deleteAll(deletions, execution, denials))));
  return { denials, ...optional('failure', failures[0]) };
}

async function failureOf(work: Promise<unknown>): Promise<Error[]> {
  try {
    await work;
    return [];
  } catch (error) {
    return [error instanceof Error ? error : new Error(String(error))];
  }
}

async function write(action: Write, { set, context }: Execution): Promise<void> {
  const { name, because } = action;
  if (action.type === 'Create') {
    await context.apply(MACHINES, machineIntent(set, action));
  } else if (action.type === 'Update') {
    const { machine } = action;
    await context.apply(MACHINES, machineIntent(set, { name, zone: machine.spec.zone, machine }));
  } else {
    const { machine } = action;
    const references = action.type === 'Adopt' ? adoptedReferences : releasedReferences;
    const path = '/metadata/ownerReferences';
    await context.patch(MACHINES, machine, [{ op: 'add', path, value: references(set, machine) }]);
  }
  tell(action, { set, context }, because);
}

async function deleteAll(
  deletions: readonly Deletion[],
  execution: Execution,
  denials: DeniedDeletion[],
): Promise<void> {
  if (deletions.length === 0) return;
  const answers = await execution.grants.ask(deletions.map((deletion) => askOf(deletion, execution)));
  const granted: { readonly deletion: Deletion; readonly grant: Grant }[] = [];
  for (const [index, deletion] of deletions.entries()) {
    const answer = answers[index];
    if (answer?.granted) granted.push({ deletion, grant: answer });
    else if (answer) denials.push({ machine: deletion.name, ...answer });
  }
  await runConcurrently(granted, ({ deletion, grant }) => deleteGranted(deletion, grant, execution));
}

function askOf({ machine, node }: Deletion, { set, context }: Execution): GrantAsk {
  const { name } = set.metadata;
  return {
    holder: { kind: 'MachineSet', name, origin: `MachineSet/${name}` },
    machine: machine.metadata.name,
    ...optional('nodeUID', node),
    action: 'DeleteMachine',
    risk: 'Machine',
    factsAt: context.clock.now(),
    expectedSeconds: machine.spec.deletion.drainTimeoutSeconds,
  };
}

/** The machine as it was judged: one that was held or marked meanwhile stays. The machine controller settles the grant. */
async function deleteGranted(
  deletion: Deletion,
  { id, fence }: Grant,
  { set, grants, context }: Execution,
): Promise<void> {
  try {
    await context.delete(MACHINES, deletion.machine, { unchanged: true });
  } catch (error) {
    if (!isKubeError(error, 'Conflict')) throw error;
    await grants.settle([{ id, fence, outcome: 'Unused' }]);
    return;
  }
  tell(deletion, { set, context }, `${deletion.because} (grant ${id})`);
}

const WORDS = {
  Create: 'Created',
  Update: 'Updated',
  Adopt: 'Adopted',
  Release: 'Released',
  Delete: 'Deleted',
} as const;

function tell(
  { type: action, name }: MachineSetAction,
  { set, context }: Pick<Execution, 'set' | 'context'>,
  because: string,
): void {
  context.log.info('machine of a set changed', { machine: name, action, because });
  const about = context.view<MachineSet>(MACHINE_SETS).get(set.metadata.name) ?? set;
  const reason = `${EVENT_PREFIX[MANAGER_MACHINESET]}${WORDS[action]}`;
  context.event(about, { type: 'Normal', reason, action, note: `Machine ${name}: ${because}` });
}
