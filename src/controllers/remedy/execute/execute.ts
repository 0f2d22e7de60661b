/** Asks the Defender for a repair, and creates its job. */
import { REMEDY_OPERATION_JOBS } from '../../../api/generated/resources.ts';
import type { Machine } from '../../../api/generated/types.ts';
import type { Denial, Grant } from '../../../api/grants.ts';
import { EVENT_PREFIX, MANAGER_REMEDY } from '../../../api/names.ts';
import type { RemedyWait } from '../../../api/status/rule-waits.ts';
import { isKubeError } from '../../../kube/client/errors.ts';
import type { ReconcileContext } from '../../../kube/controller/reconcile-context.ts';
import { optional } from '../../../kube/objects/optional.ts';
import { repeatRefused } from '../../../kube/process/repeat-refused.ts';
import { handOffOfLemon } from '../case/lemon.ts';
import { evidenceOf } from '../job/evidence.ts';
import { askFor, jobIntent } from '../job/job.ts';
import type { EvaluatedRule } from '../observe/evaluation.ts';
import type { RemedyAct } from '../plan.ts';
import type { RemedyState } from '../state.ts';
import { isIll } from '../targets.ts';

export interface ExecuteParts {
  readonly machine: Machine;
  readonly evaluated: readonly EvaluatedRule[];
  readonly state: RemedyState;
  readonly context: ReconcileContext;
}

/**
 * Asks the Defender, and creates the job: one that hands off when the hardware was repaired too often. Resolves with the wait when it is
 * denied. A crash between the two writes leaves a grant that lapses; that the job exists means that it was created before.
 */
export async function act(planned: RemedyAct, parts: ExecuteParts): Promise<RemedyWait | undefined> {
  const answer = await ask(planned, parts);
  if (answer.granted) return await create(planned, answer, parts);
  const handOff = handOffOfLemon(planned, answer, parts.machine.metadata.name);
  if (!handOff) return deniedWait(answer);
  const permitted = await ask(handOff, parts);
  if (permitted.granted) return await create(handOff, permitted, parts);
  const [wait, other] = [deniedWait(answer), deniedWait(permitted)];
  if (other.message === wait.message) return wait;
  return { ...wait, message: `${wait.message}; its hand-off is denied: ${other.message}` };
}

async function ask(planned: RemedyAct, { machine, state, context }: ExecuteParts): Promise<Grant | Denial> {
  const [answer] = await state.grants.ask([askFor(planned, machine.metadata.name, context.clock.now())]);
  if (!answer) throw new Error(`the Defender gave no answer about ${planned.jobName}`);
  return answer;
}

async function create(planned: RemedyAct, grant: Grant, parts: ExecuteParts): Promise<undefined> {
  const { machine, evaluated, state, context } = parts;
  const own = ({ remedier }: EvaluatedRule): boolean =>
    remedier.metadata.name === planned.remedier.metadata.name;
  const ill = evaluated.filter(({ finding }) => isIll(finding));
  const evidence = evidenceOf([...ill.filter(own), ...ill.filter((rule) => !own(rule))], context.clock.now());
  const job = jobIntent({ act: planned, machine, grant, evidence });
  let refusal: Error | undefined;
  await repeatRefused([job], (intent) => refusalOf(context.create(REMEDY_OPERATION_JOBS, intent)), {
    sleep: (ms) => context.clock.sleep(ms, context.signal),
    refused: (error) => (refusal = error as Error),
  });
  if (refusal !== undefined) throw refusal;
  const { rung, attempt, remedier } = planned;
  const why = planned.why === undefined ? '' : `: ${planned.why}`;
  record(
    parts,
    'JobCreated',
    `job ${planned.jobName}: attempt ${attempt} of rung ${rung.name} of rule ${remedier.metadata.name}${why}`,
  );
  state.ruleChanged(remedier.metadata.name);
}

/** The admission policy sees the ledger a little later than the Defender wrote it. */
async function refusalOf(creating: Promise<unknown>): Promise<unknown> {
  try {
    await creating;
    return undefined;
  } catch (error) {
    if (isKubeError(error, 'AlreadyExists')) return undefined;
    if (isKubeError(error, 'Forbidden', 'Invalid')) return error;
    throw error;
  }
}

/** Asks the Defender by a dry run what it would answer to the act. Each case is reported once. */
export async function shadow(
  planned: RemedyAct,
  { machine, state, context }: Omit<ExecuteParts, 'evaluated'>,
): Promise<RemedyWait | undefined> {
  const { remedier, digest, rung } = planned;
  const [answer] = await state.grants.dryRun([askFor(planned, machine.metadata.name, context.clock.now())]);
  if (!answer) throw new Error(`the Defender gave no answer about ${planned.jobName}`);
  const { name } = remedier.metadata;
  const isNew = state.tally.count({ name, digest }, planned.case, answer.granted ? 'Act' : 'Deny');
  if (isNew) {
    const what = answer.granted ? 'would begin' : `would be denied as ${answer.reason}`;
    record({ machine, context }, 'Shadow', `rule ${name} only shadows: rung ${rung.name} ${what}`);
    state.ruleChanged(name);
  }
  if (answer.granted) return undefined;
  const denied = deniedWait(answer);
  return { ...denied, message: `it only shadows, and would be denied: ${denied.message}` };
}

function deniedWait({ reason, policy, message, retryAt }: Denial): RemedyWait {
  const decidedBy = policy === undefined ? reason : `${reason} [${policy}]`;
  return {
    reason: 'Denied',
    message: `${decidedBy}: ${message}`,
    denial: reason,
    ...optional('until', retryAt),
  };
}

function record(
  { machine, context }: Pick<ExecuteParts, 'machine' | 'context'>,
  word: 'JobCreated' | 'Shadow',
  note: string,
): void {
  const reason = `${EVENT_PREFIX[MANAGER_REMEDY]}${word}`;
  context.event(machine, { type: 'Normal', reason, action: 'Repair', note });
}
