/** The failure catalogue of remedy.md: what happened to others, played against the controllers of rules and jobs with live facts. */
import { describe, expect, it } from 'vitest';
import { ANNOTATION_CORDONED_BY } from '../../src/api/names.ts';
import { conditionStatus } from '../../src/kube/objects/conditions.ts';
import { valueAt } from '../../src/kube/objects/json.ts';
import { type AfterRepair, replayLatchedCondition } from '../support/faults/f01-latched-condition.ts';
import { replayAlternatingReasons } from '../support/faults/f02-alternating-reasons.ts';
import { replayBacklog, replayRestarts } from '../support/faults/f06-replayed-backlog.ts';
import {
  podsThatStay,
  replayRepairOfCordonedNode,
  replayUncordonInDrain,
} from '../support/faults/f09-cordons-of-people.ts';
import { type LostReboot, replayAssumedReboot } from '../support/faults/f10-assumed-reboot.ts';
import { replayHint } from '../support/faults/f12-hint-cordon.ts';
import { replayExhaustedBudget } from '../support/faults/f13-exhausted-budget.ts';
import { replayTwoRemediators } from '../support/faults/f15-two-remediators.ts';
import { replayDeniedRepair } from '../support/faults/f16-nothing-happens.ts';
import { EMPTY_SELECTIONS, replayEmptySelection } from '../support/faults/f17-empty-selection.ts';
import type { RepairBed } from '../support/faults/repair-bed.ts';

/** Of the Node: whether it is cordoned, and with the mark of which grant. */
function cordonOf({ node }: RepairBed): readonly unknown[] {
  const object = node.object();
  return [
    valueAt(object, 'spec', 'unschedulable') === true,
    object?.metadata.annotations?.[ANNOTATION_CORDONED_BY],
  ];
}

function needsPerson(bed: RepairBed): string {
  return conditionStatus(bed.machine()?.status?.conditions, 'NeedsPerson');
}

describe('the failure catalogue', () => {
  it.each<[what: string, after: AfterRepair]>([
    ['is never written again', 'StaysTrue'],
    ['is raised again by the log line of the earlier boot', 'ReadsOldLine'],
  ])('F1 R3 R37 repairs once, and ends the case, when a latched condition %s', async (_, after) => {
    const bed = await replayLatchedCondition(after);
    expect(bed.attempts()).toEqual(['reboot 1 Succeeded']);
    expect(bed.node.acts).toEqual(['Reboot']);
    expect([...cordonOf(bed), needsPerson(bed)]).toEqual([false, undefined, 'Unknown']);
    expect(bed.remedier()?.status?.counts).toMatchObject({ matched: 0, inFlight: 0 });
  });

  it('F1 R3 takes the next rung when a latched condition is raised by a new log line after its repair', async () => {
    const bed = await replayLatchedCondition('ReadsNewLine');
    expect(bed.attempts()).toEqual(['reboot 1 Succeeded', 'person 1 HandedOff']);
    expect([bed.node.acts, needsPerson(bed)]).toEqual([['Reboot'], 'True']);
  });

  it('F2 R2 repairs a fault that is 30 minutes old although its reasons alternate, controllers are killed and clocks jump', async () => {
    const { bed, repairedAfter, kills } = await replayAlternatingReasons();
    expect(kills).toBe(20);
    expect(repairedAfter[0]).toBeGreaterThanOrEqual(1800);
    expect(repairedAfter[0]).toBeLessThanOrEqual(1810);
    expect(bed.attempts()).toEqual(['reboot 1 Ambiguous', 'person 1 HandedOff']);
    expect(new Set(bed.jobs().map(({ spec }) => spec.cause.case)).size).toBe(1);
  });

  it('F6 R30 repairs nothing of what was denied for long when the denial ends and the node is well', async () => {
    const bed = await replayBacklog();
    expect(bed.notes().length).toBeGreaterThan(0);
    expect([bed.jobs(), bed.node.acts]).toEqual([[], []]);
  });

  it('F6 R30 repairs no healthy node again when its controllers are restarted', async () => {
    const bed = await replayRestarts();
    expect(bed.attempts()).toEqual(['restart 1 Succeeded']);
    expect([bed.node.acts, needsPerson(bed)]).toEqual([['RestartService'], 'Unknown']);
  });

  it('F9 R33 stops its drain when a person uncordons the node, and leaves it alone for hours', async () => {
    const bed = await replayUncordonInDrain();
    expect(bed.attempts()).toEqual(['reboot 1 at work']);
    await bed.live(10);
    expect(bed.attempts()).toEqual(['reboot 1 Cancelled']);
    expect(bed.jobs()[0]?.status?.outcome?.reason).toBe('UncordonedByPerson');
    await bed.live(14_000, 10);
    expect(bed.attempts()).toEqual(['reboot 1 Cancelled']);
    expect([bed.node.acts, podsThatStay(bed), cordonOf(bed)]).toEqual([[], ['new'], [false, undefined]]);
  });

  it('F9 R34 leaves the cordon of a person on the node that it has repaired', async () => {
    const bed = await replayRepairOfCordonedNode();
    expect(bed.attempts()).toEqual(['reboot 1 Succeeded']);
    expect(cordonOf(bed)).toEqual([true, undefined]);
  });

  it.each<[what: string, lost: LostReboot, ends: readonly string[], reboots: number]>([
    [
      'that only the agent reports',
      'ReportedOnly',
      ['reboot: SameBoot', 'again: SameBoot', 'person: HandedOff'],
      2,
    ],
    ['that neither agent nor node confirms', 'NoAnswer', ['reboot: AgentSilent', 'person: HandedOff'], 0],
    [
      'after which the fault stays',
      'WithoutEffect',
      ['reboot: NotVerified', 'again: NotVerified', 'person: HandedOff'],
      2,
    ],
  ])(
    'F10 R35 R37 takes no reboot for a success %s, keeps the node cordoned, and ends at a person',
    async (_, lost, ends, reboots) => {
      const bed = await replayAssumedReboot(lost);
      expect(bed.jobs().map(({ spec, status }) => `${spec.rung.name}: ${status?.outcome?.reason}`)).toEqual(
        ends,
      );
      expect(bed.node.acts).toEqual(Array.from({ length: reboots }, () => 'Reboot'));
      expect([cordonOf(bed)[0], needsPerson(bed)]).toEqual([true, 'True']);
    },
  );

  it('F12 R39 keeps a node cordoned for a hint only as long as the hint lives, and drains nothing', async () => {
    const bed = await replayHint();
    expect(bed.attempts()).toEqual(['cordon 1 at work']);
    expect(cordonOf(bed)[0]).toBe(true);
    await bed.live(360, 1);
    expect(bed.attempts()).toEqual(['cordon 1 Succeeded']);
    expect([cordonOf(bed), needsPerson(bed)]).toEqual([[false, undefined], 'Unknown']);
  });

  it('F13 R35 asks a person, and names the budget, when a budget refuses a drain for an hour, and forces nothing', async () => {
    const bed = await replayExhaustedBudget();
    expect(bed.attempts()).toEqual(['reboot 1 at work']);
    expect(bed.jobs()[0]?.status).toMatchObject({
      waiting: {
        reason: 'ApprovalRequired',
        message: expect.stringMatching(/^Drain@v1 is not done in 300 s: .*default\/web/) as string,
      },
      drain: { evicted: 0, pending: 1 },
    });
    expect([bed.node.acts, podsThatStay(bed), cordonOf(bed)[0]]).toEqual([[], ['web'], true]);
  });

  it('F15 R12 repairs a node once when three rules match it, by the one with the highest priority', async () => {
    const bed = await replayTwoRemediators();
    expect(bed.jobs().map(({ spec }) => spec.cause.remedier)).toEqual(['rule-1']);
    // The Defender is not asked for the others.
    expect(bed.notes().filter((note) => note.includes('Denied'))).toEqual([]);
    expect([bed.node.acts, bed.attempts(), cordonOf(bed)]).toEqual([
      ['Reboot'],
      ['reboot 1 Succeeded'],
      [false, undefined],
    ]);
  });

  it('F16 R29 names the one reason on the machine and on its rule while every repair is denied, and repairs afterwards', async () => {
    const bed = await replayDeniedRepair('stopped by ann: an incident');
    expect(bed.notes()).toEqual(['rule fault waits: Denied: KillSwitch: stopped by ann: an incident']);
    expect(bed.remedier()?.status).toMatchObject({
      phase: 'Held',
      counts: { matched: 1, denied: { KillSwitch: 1 } },
      waiting: {
        reason: 'KillSwitch',
        since: expect.any(String) as string,
        message: 'KillSwitch: stopped by ann: an incident',
      },
    });
    expect(bed.machine()?.status?.faults).toMatchObject([{ type: 'FrequentTaskHung', status: 'True' }]);
    expect(bed.jobs()).toEqual([]);
    bed.grants.deny = () => undefined;
    await bed.live(60);
    expect(bed.jobs()).toHaveLength(1);
    expect(bed.remedier()?.status?.waiting).toBeUndefined();
  });

  it.each(Object.entries(EMPTY_SELECTIONS))(
    'F17 R7 refuses a rule whose selection is empty, and touches no node: %s',
    async (_, { changes, field }) => {
      const bed = await replayEmptySelection(changes);
      const [accepted] = bed.remedier()?.status?.conditions ?? [];
      expect(accepted).toMatchObject({ type: 'Accepted', status: 'False' });
      expect(accepted?.message).toContain(`rule fault: ${field}: `);
      expect([bed.jobs(), bed.grants.open.size, bed.node.acts]).toEqual([[], 0, []]);
    },
  );
});
