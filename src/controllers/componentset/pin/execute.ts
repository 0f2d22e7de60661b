/** Asks for the grants of pins, and writes them to the entries. */
import { MACHINE_COMPONENTS, MACHINES } from '../../../api/generated/resources.ts';
import type { Machine, MachineComponent } from '../../../api/generated/types.ts';
import type { Denial, Grant, GrantAsk } from '../../../api/grants.ts';
import { EVENT_PREFIX, MANAGER_COMPONENTSET } from '../../../api/names.ts';
import type { ReconcileResult } from '../../../kube/controller/controller.ts';
import type { ReconcileContext } from '../../../kube/controller/reconcile-context.ts';
import { NODES } from '../../../kube/objects/core-kinds.ts';
import { optional } from '../../../kube/objects/optional.ts';
import { currentVersion } from '../execute/current-version.ts';
import type { RolloutGrants } from '../execute/permissions.ts';
import { mergePinGrants } from '../members/entries.ts';
import { type GivenGrant, grantFor } from '../rollout/assignment.ts';
import { pinAsk } from './ask.ts';
import { type PinDecision, type PinInput, pinsOf } from './plan.ts';

export interface PinParts {
  readonly grants: Pick<RolloutGrants, 'ask' | 'renew' | 'settle'>;
  readonly context: ReconcileContext;
}

/** Time limits of what is in work, and the end of the grant of another holder. */
const WORKING_MS = 5000;
const DENIED_MS = 30_000;

export async function carryOutPins(
  decision: PinDecision,
  input: PinInput,
  parts: PinParts,
): Promise<ReconcileResult> {
  if (decision.type === 'Nothing') return {};
  if (decision.type === 'Ask') return await ask(decision, input, parts);
  if (decision.type === 'Permit') return await permit(decision, input, parts);
  if (decision.type === 'Settle') return await settle(decision, input, parts);
  return inWork(input);
}

function inWork({ now }: PinInput): ReconcileResult {
  return { requeueAt: new Date(+now + WORKING_MS) };
}

async function ask(
  { names }: Extract<PinDecision, { type: 'Ask' }>,
  input: PinInput,
  parts: PinParts,
): Promise<ReconcileResult> {
  const [answer] = await parts.grants.ask([askOf(input, names, parts.context)]);
  if (!answer?.granted) return denied(answer, input, parts);
  await writeGrants(names, answer, input, parts);
  tell(input, parts, `${names.join(', ')} may begin (grant ${answer.id})`);
  return inWork(input);
}

function askOf(input: PinInput, names: readonly string[], context: ReconcileContext): GrantAsk {
  const node = context.view(NODES).get(input.machine.metadata.name);
  const components = context.view<MachineComponent>(MACHINE_COMPONENTS);
  return pinAsk(input, names, { node, find: (ref) => components.get(ref) });
}

/** A grant that the ledger does not have any more is settled in the entries, and asked for again. */
async function permit(
  decision: Extract<PinDecision, { type: 'Permit' }>,
  input: PinInput,
  parts: PinParts,
): Promise<ReconcileResult> {
  const { grant, names, renew } = decision;
  const renewed = renew ? await renewal(grant, parts) : undefined;
  if (renewed && !renewed.granted) {
    if (renewed.reason !== 'AskInvalid') return denied(renewed, input, parts);
    return await settle({ ...decision, type: 'Settle', outcome: 'Ambiguous' }, input, parts);
  }
  await writeGrants(names, renewed ?? grant, input, parts);
  return inWork(input);
}

async function renewal(
  { id, fence }: Pick<Grant, 'id' | 'fence'>,
  { grants }: PinParts,
): Promise<Grant | Denial | undefined> {
  const [answer] = await grants.renew([{ id, fence }]);
  return answer;
}

/** The entries first: what the ledger has settled permits nothing. */
async function settle(
  { grant, outcome, because }: Extract<PinDecision, { type: 'Settle' }>,
  input: PinInput,
  parts: PinParts,
): Promise<ReconcileResult> {
  await writeGrants([], grant, input, parts);
  await parts.grants.settle([{ id: grant.id, fence: grant.fence, outcome }]);
  const { name: machine } = input.machine.metadata;
  parts.context.log.info('grant of pins settled', { machine, grant: grant.id, outcome, because });
  return {};
}

function denied(
  answer: Denial | undefined,
  { machine, now }: PinInput,
  { context }: PinParts,
): ReconcileResult {
  const { message = 'the Defender gave no answer', retryAt } = answer ?? {};
  const reason = `${EVENT_PREFIX[MANAGER_COMPONENTSET]}PinDenied`;
  context.event(machine, { type: 'Warning', reason, action: 'Permit', note: `grant denied: ${message}` });
  const latest = new Date(+now + DENIED_MS);
  return { requeueAt: retryAt && retryAt > now && retryAt < latest ? retryAt : latest };
}

function tell({ machine }: PinInput, { context }: PinParts, note: string): void {
  const reason = `${EVENT_PREFIX[MANAGER_COMPONENTSET]}PinPermitted`;
  context.event(machine, { type: 'Normal', reason, action: 'Permit', note });
}

/** On a version of the Machine with what was read: the grant is for this content of the pin. */
async function writeGrants(
  names: readonly string[],
  grant: GivenGrant,
  { machine }: PinInput,
  { context }: PinParts,
): Promise<void> {
  const permitted = pinsOf(machine).filter((entry) => names.includes(entry.name));
  const grants = new Map(permitted.map((entry) => [entry.name, grantFor(entry, grant)]));
  const { name } = machine.metadata;
  const newest = context.view<Machine>(MACHINES).get(name);
  const metadata = { name, ...optional('resourceVersion', currentVersion(machine, newest)) };
  await context.apply(MACHINES, { metadata, spec: { components: mergePinGrants(machine, grants) } });
}
