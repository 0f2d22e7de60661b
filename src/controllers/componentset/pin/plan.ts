/**
 * Decides about the pins of one machine: entries that a person or another tool owns. Their content is not ours, but each change of it
 * needs the permission of the Defender, which is asked in the name of the Machine. Pure.
 */
import type { Blocker, LedgerGrant, Machine, MachineComponentEntry } from '../../../api/generated/types.ts';
import type { GrantOutcome } from '../../../api/grants.ts';
import { isObserved, reportOf } from '../../../api/machine/entry-report.ts';
import { type EntryProgress, entryProgress } from '../../../rollout/entry-progress.ts';
import { pinnedComponents } from '../members/pins.ts';
import { hasBegun, RENEW_BEFORE_MS } from '../rollout/upkeep/upkeep.ts';

export interface PinInput {
  readonly machine: Machine;
  /** The grant that the ledger holds for the machine. */
  readonly ledgerGrant?: LedgerGrant;
  readonly now: Date;
}

/** Permit: the pins in `names` get the grant, and no others. */
export type PinDecision = { readonly because: string } & (
  | { readonly type: 'Nothing' }
  /** A wait has a blocker if it is for the end of another act, not for a pin. */
  | { readonly type: 'Wait'; readonly blocker?: Blocker }
  | { readonly type: 'Ask'; readonly names: readonly string[] }
  | {
      readonly type: 'Permit';
      readonly names: readonly string[];
      readonly grant: PinGrant;
      readonly renew: boolean;
    }
  | { readonly type: 'Settle'; readonly grant: PinGrant; readonly outcome: GrantOutcome }
);

export type PinGrant = Pick<LedgerGrant, 'id' | 'fence' | 'notAfter'>;

/** The default of `machineTimeoutSeconds`: a pin has no set with a limit of its own. */
export const PIN_TIMEOUT_SECONDS = 900;
/** The action of pins in the ledger: an update of components. */
const ACTION = 'UpdateComponent';

export function planPins(input: PinInput): PinDecision {
  const { machine, ledgerGrant } = input;
  const pins = pinsOf(machine);
  const held = heldGrant(machine.metadata.name, pins, ledgerGrant);
  const states = pins.map((entry) => stateOf(machine, entry));
  if (held) return planHeld(input, held, states);
  const isLeaving = machine.metadata.deletionTimestamp !== undefined;
  const asking = isLeaving || !isObserved(machine) ? [] : states.filter(needsGrant);
  const [first] = asking;
  if (!first) return { type: 'Nothing', because: 'no pin waits for a grant' };
  if (ledgerGrant && ledgerGrant.state !== 'Settled') {
    const { id } = ledgerGrant;
    const { kind, name } = ledgerGrant.holder;
    const because = `the machine has grant ${id} of ${kind} ${name}`;
    return { type: 'Wait', blocker: { kind, name }, because };
  }
  return { type: 'Ask', names: namesOf(states.filter(isOpen)), because: first.because };
}

export function pinsOf(machine: Machine): readonly MachineComponentEntry[] {
  const pinned = pinnedComponents(machine);
  return machine.spec.components.filter(({ name }) => pinned.has(name));
}

/**
 * Returns the grant in the ledger, or that of the entries until the ledger is observed. The grant of another holder ends the one
 * in the entries.
 */
function heldGrant(
  machine: string,
  pins: readonly MachineComponentEntry[],
  grant: LedgerGrant | undefined,
): (PinGrant & Partial<Pick<LedgerGrant, 'issuedAt'>>) | undefined {
  const isOwn = grant?.holder.kind === 'Machine' && grant.holder.name === machine && grant.action === ACTION;
  if (grant && isOwn && grant.state !== 'Settled') return grant;
  return pins.find((entry) => entry.grant !== undefined)?.grant;
}

interface PinState {
  readonly entry: MachineComponentEntry;
  readonly step: EntryProgress['step'];
  readonly reason: string;
  readonly because: string;
}

/** Returns the state of a pin. `entryProgress` compares the report with this content of the pin. */
function stateOf(machine: Machine, entry: MachineComponentEntry): PinState {
  const progress = entryProgress(entry, reportOf(machine, entry));
  if (progress.step !== 'Done') return { entry, ...progress };
  return { entry, step: 'Done', reason: 'Done', because: `${entry.name} is in force` };
}

function needsGrant({ step, reason }: PinState): boolean {
  return step === 'InWork' && reason === 'GrantNeeded';
}

/** Tells whether a pin is not at its end. One that works badly is at its end, too. */
function isOpen({ step }: PinState): boolean {
  return step === 'InWork';
}

function namesOf(states: readonly PinState[]): readonly string[] {
  return states.map(({ entry }) => entry.name);
}

type Held = NonNullable<ReturnType<typeof heldGrant>>;

function planHeld(
  { machine, ledgerGrant, now }: PinInput,
  held: Held,
  states: readonly PinState[],
): PinDecision {
  const grant = { id: held.id, fence: held.fence, notAfter: held.notAfter };
  if (machine.metadata.deletionTimestamp !== undefined) {
    return { type: 'Settle', grant, outcome: 'Ambiguous', because: 'the Machine is being deleted' };
  }
  if (isOfAnother(ledgerGrant, grant.id)) {
    return { type: 'Settle', grant, outcome: 'Ambiguous', because: `grant ${grant.id} is over` };
  }
  return planOpen({ machine, grant, isOverdue: hasTimedOut(held, now), now }, states);
}

interface OpenPins extends Pick<PinInput, 'machine' | 'now'> {
  readonly grant: PinGrant;
  readonly isOverdue: boolean;
}

function planOpen({ machine, grant, isOverdue, now }: OpenPins, states: readonly PinState[]): PinDecision {
  const isCurrent = isObserved(machine);
  // Before the agent has acted on the newest entries, its report is about those before.
  const open = states.filter((state) => isOpen(state) || !isCurrent);
  const [first] = open;
  if (!first) return settleEnded(grant, states);
  if (isOverdue && !hasBegun({ machine })) {
    const because = `not at its end after ${PIN_TIMEOUT_SECONDS} s: ${first.because}`;
    return { type: 'Settle', grant, outcome: 'Failed', because };
  }
  const renew = +new Date(grant.notAfter) - +now <= RENEW_BEFORE_MS;
  const isMissing = isCurrent && open.some(needsGrant);
  const { because } = first;
  if (!renew && !isMissing) return { type: 'Wait', because };
  const permitted = isMissing ? open : states.filter(({ entry }) => entry.grant?.id === grant.id);
  return { type: 'Permit', names: namesOf(permitted), grant, renew, because };
}

function isOfAnother(ledgerGrant: LedgerGrant | undefined, id: string): boolean {
  return ledgerGrant !== undefined && ledgerGrant.state !== 'Settled' && ledgerGrant.id !== id;
}

function hasTimedOut({ issuedAt }: Held, now: Date): boolean {
  return issuedAt !== undefined && +now - +new Date(issuedAt) > PIN_TIMEOUT_SECONDS * 1000;
}

function settleEnded(grant: PinGrant, states: readonly PinState[]): PinDecision {
  if (states.length === 0) {
    return { type: 'Settle', grant, outcome: 'Ambiguous', because: 'the machine has no pin any more' };
  }
  const failed = states.find(({ step }) => step === 'Failed' || step === 'Unhealthy');
  if (failed) return { type: 'Settle', grant, outcome: 'Failed', because: failed.because };
  // The host of one that differs was adopted, and nothing was changed for that pin.
  const differing = states.find(({ step }) => step === 'Differs');
  const outcome = states.every(({ step }) => step === 'Differs') ? 'Unused' : 'Succeeded';
  return { type: 'Settle', grant, outcome, because: differing?.because ?? 'every pin is in force' };
}
