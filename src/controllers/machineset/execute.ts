/** Carries out the plan of a set. One machine that fails keeps no other; a deletion needs its grant first. */
import { MACHINE_SETS, MACHINES } from '../../api/generated/resources.ts';
import type { MachineSet } from '../../api/generated/types.ts';
import type { Denial, Grant, GrantAsk, GrantPort } from '../../api/grants.ts';
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
  readonly grants: Pick<GrantPort, 'ask' | 'renew' | 'settle'>;
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
  const granted: GrantedDeletion[] = [];
  for (const { deletion, answer } of await answersTo(deletions, execution)) {
    if (answer.granted) granted.push({ deletion, grant: answer });
    else denials.push({ machine: deletion.name, ...answer });
  }
  await runConcurrently(granted, (each) => deleteGranted(each, execution));
}

interface GrantedDeletion {
  readonly deletion: Deletion;
  readonly grant: Grant;
}

interface AnsweredDeletion {
  readonly deletion: Deletion;
  readonly answer: Grant | Denial;
}

/** Asks for a grant of the set, or renews that of the job that replaces the machine: never both. */
async function answersTo(
  deletions: readonly Deletion[],
  execution: Execution,
): Promise<readonly AnsweredDeletion[]> {
  const { grants } = execution;
  const own = deletions.filter(({ grant }) => grant === undefined);
  const ofJobs = deletions.filter(({ grant }) => grant !== undefined);
  const asked = own.length > 0 ? await grants.ask(own.map((deletion) => askOf(deletion, execution))) : [];
  const renewed = ofJobs.length > 0 ? await grants.renew(ofJobs.flatMap(({ grant }) => grant ?? [])) : [];
  return [...withAnswers(own, asked), ...withAnswers(ofJobs, renewed.map(replacing(ofJobs)))];
}

function withAnswers(
  deletions: readonly Deletion[],
  answers: readonly (Grant | Denial)[],
): readonly AnsweredDeletion[] {
  return deletions.flatMap((deletion, index) => {
    const answer = answers[index];
    return answer ? [{ deletion, answer }] : [];
  });
}

/** Refuses a grant that is for something else: it would not be settled by the job that asked for the replacement. */
function replacing(
  deletions: readonly Deletion[],
): (answer: Grant | Denial, index: number) => Grant | Denial {
  return (answer, index) => {
    const { name } = deletions[index] ?? {};
    if (!answer.granted || (answer.machine === name && answer.action === 'ReplaceMachine')) return answer;
    const message = `grant ${answer.id} is not for the replacement of Machine ${name}`;
    return { granted: false, reason: 'AskInvalid', message, also: [] };
  };
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

/**
 * Deletes the machine as it was judged: one that was held, marked, or came back meanwhile stays. The machine controller settles the grant of
 * the set.
 */
async function deleteGranted(
  { deletion, grant: { id, fence } }: GrantedDeletion,
  { set, grants, context }: Execution,
): Promise<void> {
  try {
    await context.delete(MACHINES, deletion.machine, { unchanged: true });
  } catch (error) {
    if (!isKubeError(error, 'Conflict')) throw error;
    // The job settles its own.
    if (deletion.grant) return;
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
