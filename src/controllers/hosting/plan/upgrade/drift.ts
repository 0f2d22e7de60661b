/** Plans how a member that somebody edited becomes what was recorded for it again: what the change in work, or the last one, has made of it. Pure. */
import type { MemberReport } from '../../drivers/driver.ts';
import type { HostingDecision, HostingInput } from '../input.ts';
import { disruptMember, endedTooOften } from '../members.ts';
import { wait, withHint } from '../wait.ts';

/** Undefined: every member is as it was recorded, or another one has to answer first. */
export function planCorrection(input: HostingInput): HostingDecision | undefined {
  const report = driftedMember(input);
  if (!report?.drift) return undefined;
  const { member, drift } = report;
  // A webhook or an autoscaler of the hub that edits it each time would keep it from its work.
  if (endedTooOften(report, input.now)) return returningDrift(input, report, drift.what);
  const because = `it was edited by others: ${drift.what}`;
  const act = { type: 'Correct', member, isDisruptive: drift.isDisruptive, because } as const;
  if (!drift.isDisruptive) return { act };
  return mayBeStarted(input, report) ? disruptMember(input, act) : undefined;
}

/** One that does not answer comes first: until then no other one may be touched. */
function driftedMember({ plane }: HostingInput): MemberReport | undefined {
  const drifted = plane.members.filter(({ drift }) => drift !== undefined);
  return drifted.find(({ state }) => state !== 'Ready') ?? drifted[0];
}

/** One at a time: a member that answers waits for all others. */
function mayBeStarted({ plane }: HostingInput, { state }: MemberReport): boolean {
  return state !== 'Ready' || plane.members.every((each) => each.state === 'Ready');
}

/** A change in work goes on: it may be what helps. */
function returningDrift(
  { cluster }: HostingInput,
  { member }: MemberReport,
  what: string,
): HostingDecision | undefined {
  if (cluster.status?.hosted?.upgrade !== undefined) return undefined;
  const message = `${member} was edited again each time it was corrected: ${what}`;
  const hint = 'find who edits it: its managedFields have the name';
  return { wait: wait('DriftReturns', withHint(message, hint), ['Workload', member], 'stalled') };
}
