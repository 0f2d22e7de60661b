/**
 * Asks the Defender in the order in which machines are due, as R39 demands for announced maintenance: while a limit that they share
 * is used up, the machine that asks first would get the next grant. A machine that is denied for a reason of its own holds up no other: what
 * the Defender would answer is asked by a dry run.
 */

import type { RemedyWait } from '../../../api/status/rule-waits.ts';
import { optional } from '../../../kube/objects/optional.ts';
import { secondsAfter } from '../../../os/dates.ts';
import { askFor } from '../job/job.ts';
import type { RemedyAct } from '../plan.ts';
import { act, type ExecuteParts } from './execute.ts';
import type { Turn } from './order.ts';

const GATHER_SECONDS = 1;

/** Acts if it is the turn of the machine. Resolves with the wait when the act is denied, or when it is not its turn. */
export async function takeTurn(planned: RemedyAct, parts: ExecuteParts): Promise<RemedyWait | undefined> {
  const { state } = parts;
  const announced = announcedFor(planned, parts);
  const turn = turnOf(planned, announced ?? faultOf(planned), parts);
  const wait =
    gatherWait(turn, announced !== undefined, parts) ??
    (await orderWait(turn, parts)) ??
    (await act(planned, parts));
  // Only after an answer: a machine whose ask or job fails each time has not taken its turn.
  if (wait) {
    state.turns.enter(turn);
    return wait;
  }
  state.turns.leave(turn.machine);
  const next = state.turns.first(turn.rule);
  if (next) callTurn(next, parts);
  return undefined;
}

function turnOf(planned: RemedyAct, due: Due, { machine, context }: ExecuteParts): Turn {
  const { name } = machine.metadata;
  const ask = askFor(planned, name, context.clock.now());
  return { machine: name, rule: planned.remedier.metadata.name, ...due, ask };
}

type Due = Pick<Turn, 'dueMs' | 'because'>;

/** Returns when announced maintenance of the machine may begin, if the rule asks about that; undefined otherwise. */
function announcedFor(
  { remedier }: RemedyAct,
  { evaluated, context }: Pick<ExecuteParts, 'evaluated' | 'context'>,
): Due | undefined {
  const rule = evaluated.find((each) => each.remedier.metadata.name === remedier.metadata.name);
  const ref = rule?.compiled.reads.find(({ fact }) => fact === 'maintenance');
  const reading = ref && rule?.facts(ref);
  if (reading?.['pending'] !== true) return undefined;
  const seconds = reading['secondsUntilNotBefore'];
  if (typeof seconds !== 'number') {
    return { dueMs: Number.NEGATIVE_INFINITY, because: 'its maintenance may begin at any moment' };
  }
  // Two readings of one moment differ by less than a second.
  const due = new Date(Math.round(context.clock.now().getTime() / 1000 + seconds) * 1000);
  return { dueMs: due.getTime(), because: `its maintenance may begin at ${due.toISOString()}` };
}

function faultOf({ since }: RemedyAct): Due {
  return { dueMs: since.getTime(), because: `its fault began at ${since.toISOString()}` };
}

/**
 * Returns a wait while machines enter the order. Events are announced for many machines at a time, and all of them enter first:
 * which one is reconciled first means nothing.
 */
function gatherWait(
  turn: Turn,
  isAnnounced: boolean,
  { state, context }: ExecuteParts,
): RemedyWait | undefined {
  if (!isAnnounced || state.turns.has(turn)) return undefined;
  return {
    reason: 'NotItsTurn',
    message: 'which machine goes first is decided within a second',
    until: secondsAfter(context.clock.now(), GATHER_SECONDS),
  };
}

async function orderWait(turn: Turn, parts: ExecuteParts): Promise<RemedyWait | undefined> {
  const { state, context } = parts;
  const before = state.turns.before(turn, context.clock.now().getTime());
  if (before.length === 0) return undefined;
  const answers = await state.grants.dryRun(before.map(({ ask }) => ask));
  const first = before.find((_, index) => answers[index]?.granted);
  if (!first) return undefined;
  callTurn(first, parts);
  return (
    deniedBefore(turn, parts) ?? {
      reason: 'NotItsTurn',
      message: `${first.machine} goes first: ${first.because}`,
    }
  );
}

function callTurn({ machine }: Turn, { state, context }: ExecuteParts): void {
  state.turns.call(machine, context.clock.now().getTime());
  state.machineChanged(machine);
}

/**
 * Returns the denial that the machine got before. The limit that denied it is why it waits: to go after others changes nothing
 * about that.
 */
function deniedBefore({ machine, rule }: Turn, { state }: ExecuteParts): RemedyWait | undefined {
  const wait = state.findings.get(machine)?.byRule.get(rule)?.wait;
  if (wait?.reason !== 'Denied') return undefined;
  const { reason, message, denial } = wait;
  return { reason, message, ...optional('denial', denial) };
}
