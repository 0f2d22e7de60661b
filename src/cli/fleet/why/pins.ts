/** Explains why what people pinned on a machine is not in force: exactly one reason for each pin, by the code that decides it. Pure. */
import type { LedgerGrant, Machine } from '../../../api/generated/types.ts';
import type { GrantAsk } from '../../../api/grants.ts';
import { reportOf } from '../../../api/machine/entry-report.ts';
import { type PinSurroundings, pinAsk } from '../../../controllers/componentset/pin/ask.ts';
import { type PinDecision, pinsOf, planPins } from '../../../controllers/componentset/pin/plan.ts';
import type { Decision } from '../../../defender/decide.ts';
import { optional } from '../../../kube/objects/optional.ts';
import { entryProgress } from '../../../rollout/entry-progress.ts';
import { denialHint, unblockHint } from '../../../views/fleet/unblock.ts';

export interface PinReason {
  readonly component: string;
  readonly componentRef: string;
  readonly reason: string;
  readonly because: string;
  readonly since?: string;
  readonly unblock: string;
}

export interface PinsInput extends PinSurroundings {
  readonly machine: Machine;
  /** The grant of the machine in the ledger. */
  readonly grant: LedgerGrant | undefined;
  readonly now: Date;
}

/** Returns what kubenode controllers asks the Defender now. Undefined: nothing. */
export function askForPins(input: PinsInput): GrantAsk | undefined {
  const plan = planOf(input);
  return plan.type === 'Ask' ? pinAsk(input, plan.names, input) : undefined;
}

/** Explains each pin. `decision` is the answer to `askForPins`. */
export function explainPins(input: PinsInput, decision: Decision | undefined): readonly PinReason[] {
  const { machine } = input;
  const { name } = machine.metadata;
  const onGrant = grantWait(name, planOf(input), decision);
  return pinsOf(machine).flatMap((entry) => {
    const report = reportOf(machine, entry);
    const progress = entryProgress(entry, report);
    if (progress.step === 'Done') return [];
    const { reason, because } = progress;
    const own = { reason, because, unblock: unblockHint({ reason, blocker: { kind: 'Machine', name } }) };
    return [
      {
        component: entry.name,
        componentRef: entry.componentRef,
        ...(reason === 'GrantNeeded' ? (onGrant ?? own) : own),
        ...optional('since', report?.waiting?.since ?? report?.since),
      },
    ];
  });
}

function planOf({ machine, grant, now }: PinsInput): PinDecision {
  return planPins({ machine, ...optional('ledgerGrant', grant), now });
}

function grantWait(
  machine: string,
  plan: PinDecision,
  decision: Decision | undefined,
): Pick<PinReason, 'reason' | 'because' | 'unblock'> | undefined {
  if (plan.type === 'Wait' && plan.blocker) {
    const { because, blocker } = plan;
    const busy = { reason: 'MachineBusy', blocker };
    return { reason: busy.reason, because, unblock: unblockHint(busy) };
  }
  if (!decision) return undefined;
  if (decision.permitted) return PERMITTED;
  const { reason, policy, message } = decision;
  const because = policy === undefined ? message : `${policy}: ${message}`;
  return { reason, because, unblock: denialHint(reason, machine) };
}

const PERMITTED = {
  reason: 'GrantNeeded',
  because: 'the Defender permits it now',
  unblock: 'no action required where kubenode controllers runs for this cluster: it asks every 30 s',
};
