import { describe, expect, it } from 'vitest';
import type { NodeRemedier } from '../../../../../src/api/generated/types.ts';
import {
  createRuleReplay,
  type RuleReplay,
} from '../../../../../src/cli/commands/rules/backtest/rule-replay.ts';
import { createCheckedRules } from '../../../../../src/controllers/remedy/checked-rules.ts';
import type { RecordedLine } from '../../../../../src/rules/recording/format.ts';
import { CLUSTER, type RecordingBed, recordingBed } from '../../../../rules/recording/recording-bed.ts';
import { REMOVED } from '../../../../rules/sample-rule.ts';
import { memoryLog } from '../../../../support/memory-log.ts';
import { remedier, remedyJob } from '../../../../support/remediers.ts';
import { NOW } from '../../../../support/virtual-clock.ts';

const HUNG = { fact: 'condition', params: { type: 'FrequentTaskHung' } };
const reported = (status: string, observedSeconds: number): object => ({
  condition: { FrequentTaskHung: { status, observedSeconds } },
});

/** Hung for two minutes. */
const RULE = {
  '/target/maxMatchPercent': 100,
  '/rule/conditions': {
    all: [
      { ...HUNG, path: '$.status', operator: 'equal', value: 'True' },
      { ...HUNG, path: '$.observedSeconds', operator: 'greaterThanInclusive', value: 120 },
    ],
  },
  '/rule/gate': REMOVED,
  '/tests': [
    { name: 'hung', expect: 'Match', given: reported('True', 120) },
    { name: 'well', expect: 'NoMatch', given: reported('False', 120) },
    { name: 'silent', expect: 'Indeterminate', given: {} },
  ],
};

async function replayOf(changes: Readonly<Record<string, unknown>> = {}): Promise<RuleReplay> {
  const rule: NodeRemedier = remedier({ ...RULE, ...changes });
  const { accepted, problems } = await createCheckedRules().check(rule);
  if (!accepted) throw new Error(JSON.stringify(problems));
  return createRuleReplay({ remedier: rule, compiled: accepted.compiled }, memoryLog());
}

/** Well at first. */
function fleetOf(...names: readonly string[]): RecordingBed {
  const bed = recordingBed();
  for (const name of names) {
    bed.machine(name);
    bed.node(name, { FrequentTaskHung: 'False' });
  }
  bed.synced();
  bed.elapse(60);
  return bed;
}

async function replay(lines: readonly RecordedLine[], changes = {}): Promise<RuleReplay> {
  const replayed = await replayOf(changes);
  for (const line of lines) await replayed.apply(line, Date.parse(line.at));
  await replayed.end();
  return replayed;
}

function second(time: string | undefined): string {
  return time === undefined ? '' : `${Math.round((Date.parse(time) - +NOW) / 1000)}`;
}

/** `m-1 180-240 Reboot`: seconds since the start of the recording. */
function textsOf({ tally }: RuleReplay): readonly string[] {
  return tally.machines().flatMap(({ machine, cases }) =>
    cases.map(({ from, to, asks, waits }) => {
      const actions = asks.map(({ action }) => action).join();
      return [machine, `${second(from)}-${second(to)}`, actions, ...waits].filter(Boolean).join(' ');
    }),
  );
}

describe('createRuleReplay', () => {
  it('finds that a rule matches although no line was recorded then, because time passes in between', async () => {
    const bed = fleetOf('m-1', 'm-2');
    bed.node('m-1', { FrequentTaskHung: 'True' });
    bed.elapse(300);
    bed.node('m-1', { FrequentTaskHung: 'False' });
    bed.elapse(700);
    const found = await replay(bed.lines);
    expect(textsOf(found)).toEqual(['m-1 180-360 Reboot']);
    expect(found.tally.peak()).toEqual({ machines: 1, at: new Date(+NOW + 180_001).toISOString() });
  });

  it('decides nothing before every initial list is complete', async () => {
    const bed = recordingBed();
    bed.machine('m-1');
    bed.node('m-1', { FrequentTaskHung: 'True' });
    bed.elapse(300);
    expect((await replay(bed.lines)).tally.machines()).toEqual([]);
  });

  it('does not match what ends before the duration that the rule asks for', async () => {
    const bed = fleetOf('m-1');
    bed.node('m-1', { FrequentTaskHung: 'True' });
    bed.elapse(110);
    bed.node('m-1', { FrequentTaskHung: 'False' });
    bed.elapse(700);
    expect(textsOf(await replay(bed.lines))).toEqual([]);
  });

  it('measures no duration across a gap: the next process begins again', async () => {
    const bed = fleetOf('m-1');
    bed.node('m-1', { FrequentTaskHung: 'True' });
    bed.elapse(90);
    const lines: RecordedLine[] = [...bed.lines];
    const later = new Date(+bed.now() + 86_400_000);
    const shifted = fleetOf('m-1');
    shifted.node('m-1', { FrequentTaskHung: 'True' });
    shifted.elapse(90);
    const offset = +later - +NOW;
    for (const line of shifted.lines) {
      const text = JSON.stringify(line).replaceAll(/\d{4}-[\d:.T-]+Z/g, (time) =>
        new Date(Date.parse(time) + offset).toISOString(),
      );
      lines.push(JSON.parse(text) as RecordedLine);
    }
    expect(textsOf(await replay(lines))).toEqual([]);
  });

  it.each<[mode: string]>([['Suspended'], ['Observe'], ['Enforce']])(
    'does not depend on the mode %s',
    async (mode) => {
      const bed = fleetOf('m-1');
      bed.node('m-1', { FrequentTaskHung: 'True' });
      bed.elapse(200);
      expect(textsOf(await replay(bed.lines, { '/mode': mode }))).toEqual(['m-1 180- Reboot']);
    },
  );

  it('tells why a node would not be touched: too many match, a person holds it, a job is at work', async () => {
    const bed = fleetOf('m-1', 'm-2', 'm-3', 'm-4');
    bed.machine('m-3', { spec: { hold: { reason: 'firmware', scope: 'All' } as never } });
    bed.job(remedyJob({ machine: 'm-4', nodeUID: 'node-4' }));
    for (const name of ['m-3', 'm-4']) bed.node(name, { FrequentTaskHung: 'True' });
    bed.elapse(200);
    expect(textsOf(await replay(bed.lines))).toEqual([
      'm-3 180- HumanHold: the machine is held: firmware',
      'm-4 180- JobActive: job m-4-kernel-hang-0a1b2c3d-r1-a1 is at work',
    ]);
    const few = textsOf(await replay(bed.lines, { '/target/maxMatchPercent': 25 }));
    const limited = few.filter((text) => text.includes('TooManyMatches: 2 of 4 targets match'));
    expect(limited.length).toBe(1);
  });

  it('tells for how long facts were unknown, and why', async () => {
    const bed = fleetOf('m-1');
    bed.freeze('m-1');
    bed.elapse(1200);
    const [found] = (await replay(bed.lines)).tally.machines();
    expect(found?.indeterminate).toEqual([
      {
        because: expect.stringMatching(
          /^condition FrequentTaskHung status is unknown: nothing heard of the writer of condition FrequentTaskHung for 660 s/,
        ) as string,
        times: 1,
        seconds: 591,
      },
    ]);
  });

  it('passes over machines that the rule is not for, and follows labels that change', async () => {
    const bed = fleetOf('m-1', 'm-2');
    bed.machine('m-2', { metadata: { labels: { pool: 'system' } } });
    for (const name of ['m-1', 'm-2']) bed.node(name, { FrequentTaskHung: 'True' });
    bed.elapse(200);
    bed.machine('m-2', { metadata: { labels: { pool: 'web' } } });
    bed.elapse(10);
    expect(textsOf(await replay(bed.lines))).toEqual(['m-1 180- Reboot', 'm-2 260- Reboot']);
  });

  it('refuses lines before the first start', async () => {
    const replayed = await replayOf();
    await expect(replayed.apply({ type: 'Tick', at: NOW.toISOString() }, +NOW)).rejects.toThrow(
      'expected a line of type Started first, got Tick',
    );
  });

  it('replays a day of 50 nodes as a stream: every node that was ill is found, and no other', async () => {
    const replayed = await replayOf();
    const ill = new Set<string>();
    let lines = 0;
    for (const [line, atMs] of streamOf(50, 24, ill)) {
      lines += 1;
      await replayed.apply(line, atMs);
    }
    await replayed.end();
    const found = replayed.tally.machines();
    expect(found.length).toBe(50);
    expect(lines).toBeGreaterThan(50 * 24 * 12);
    const matched = found.filter(({ cases }) => cases.length > 0);
    expect(matched.map(({ machine }) => machine)).toEqual([...ill].toSorted());
    expect(matched.every(({ cases }) => cases.every(({ asks }) => asks.length === 1))).toBe(true);
  });
});

type Timed = readonly [RecordedLine, number];

const HOUR_BEATS = 12;

/** Heartbeats of every node every 5 minutes; each hour one node hangs for 10 minutes. No line is kept. */
function* streamOf(nodes: number, hours: number, ill: Set<string>): Generator<Timed> {
  const names = Array.from({ length: nodes }, (_, index) => `n-${index}`);
  const templates = templatesOf();
  yield* startOf(names, templates);
  for (let beat = 1; beat <= hours * HOUR_BEATS; beat += 1) {
    const ms = +NOW + beat * 300_000;
    const at = new Date(ms).toISOString();
    for (const node of names) {
      yield [{ type: 'Heartbeat', at, node, times: { FrequentTaskHung: at } }, ms];
    }
    const name = `n-${Math.floor(beat / HOUR_BEATS) % nodes}`;
    const status = STATUS_AT.get(beat % HOUR_BEATS);
    if (status === undefined) continue;
    if (status === 'True') ill.add(name);
    for (const line of templates.filter(({ view }) => view === 'nodes')) {
      yield [{ ...line, at, object: named(line.object, name, { status, at }) }, ms];
    }
  }
}

const STATUS_AT: ReadonlyMap<number, string> = new Map([
  [3, 'True'],
  [5, 'False'],
]);

function templatesOf(): readonly Extract<RecordedLine, { type: 'Put' }>[] {
  const bed = recordingBed();
  bed.machine('template');
  bed.node('template', { FrequentTaskHung: 'False' });
  return bed.lines.flatMap((line) => (line.type === 'Put' ? [line] : []));
}

function* startOf(names: readonly string[], templates: ReturnType<typeof templatesOf>): Generator<Timed> {
  const [at, ms] = [NOW.toISOString(), +NOW];
  const format = { format: 'kubenode-facts', version: 1 } as const;
  yield [{ type: 'Started', at, ...format, kubenode: '0', cluster: CLUSTER }, ms];
  for (const name of names) {
    for (const line of templates) yield [{ ...line, object: named(line.object, name) }, ms];
  }
  yield [{ type: 'Synced', at }, ms];
}

function named<T extends RecordedObject>(object: T, name: string, hung?: { status: string; at: string }): T {
  const metadata = { ...object.metadata, name, uid: `uid-${name}` };
  if (!hung) return { ...object, metadata };
  const condition = {
    type: 'FrequentTaskHung',
    lastHeartbeatTime: hung.at,
    lastTransitionTime: hung.at,
    ...hung,
  };
  return { ...object, metadata, status: { ...(object['status'] as object), conditions: [condition] } };
}

type RecordedObject = Extract<RecordedLine, { type: 'Put' }>['object'];
