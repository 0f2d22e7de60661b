import { describe, expect, it } from 'vitest';
import type { MachineFault } from '../../../src/api/generated/types.ts';
import { faultsOf } from '../../../src/controllers/remedy/faults.ts';
import type { CompiledRule } from '../../../src/rules/compiled-rule.ts';
import { createRuleEvaluator } from '../../../src/rules/rule-evaluator.ts';
import type { FactViewName } from '../../../src/rules/views.ts';
import { ago, machine } from '../../support/builders.ts';
import { type FactsBed, factsBed, NODE_UID } from './facts-bed.ts';
import { hungFor, ruleOf } from './rules-bed.ts';

const HUNG = { type: 'FrequentTaskHung' };
const IMAGEFS = { filesystem: 'imagefs' };
const TASKS = { reason: 'TaskHung', windowSeconds: 600 };
const REBOOTS = { action: 'Reboot', windowSeconds: 600 };
const MINUTE = 60_000;

/** Every fact is known. */
function full(): FactsBed {
  const bed = factsBed();
  bed.machine({ status: { facts: { disk: [{ filesystem: 'imagefs', usedPercent: 91 }] } } });
  bed.node({ FrequentTaskHung: 'True' });
  bed.heartbeat();
  return bed;
}

function known(bed: FactsBed): readonly string[] {
  const facts = [
    ['condition', HUNG],
    ['event', TASKS],
    ['node', {}],
    ['disk', IMAGEFS],
    ['history', REBOOTS],
  ] as const;
  return facts
    .filter(([fact, params]) => Object.keys(bed.read(fact, params)).length > 0)
    .map(([fact]) => fact);
}

describe('live facts', () => {
  it.each<readonly [view: FactViewName, facts: readonly string[]]>([
    ['nodes', ['event', 'disk', 'history']],
    ['events', ['condition', 'node', 'disk', 'history']],
    ['jobs', ['condition', 'event', 'node', 'disk']],
    ['agentLeases', ['condition', 'event', 'node', 'history']],
    ['machines', ['event']],
  ])('R1 a list of %s that hangs makes only its own facts unknown, at once', (view, facts) => {
    const bed = full();
    expect(known(bed)).toEqual(['condition', 'event', 'node', 'disk', 'history']);
    bed.silence(view, Infinity);
    expect(known(bed)).toEqual(facts);
    bed.silence(view, undefined);
    expect(known(bed)).toHaveLength(5);
  });

  it('R1 a source that throws makes facts unknown, with its reason', () => {
    const bed = full();
    bed.breakView('nodes');
    expect(known(bed)).toEqual([]);
    expect(bed.why('condition', HUNG)).toBe('fact condition could not be read: Error: nodes cannot be read');
  });

  it('R1 a component whose version cannot be read leaves the other facts known', () => {
    const bed = full();
    bed.machine({ status: { components: [{ name: 'kubelet', currentRef: 'kubelet-1', ready: true }] } });
    bed.breakView('components');
    expect(bed.read('component', { name: 'kubelet' })).toEqual({});
    expect(bed.read('condition', HUNG)['status']).toBe('True');
  });

  it('R1 a fact without a source is unknown', () => {
    const bed = full();
    expect(bed.why('weather')).toBe('fact weather has no source');
  });

  it('R1 does not know anything of a machine that was never observed', () => {
    const bed = factsBed();
    expect(known(bed)).toEqual(['event', 'history']);
  });

  it('R1 forgets a machine that is deleted', () => {
    const bed = full();
    bed.deleteNode();
    expect(known(bed)).toEqual(['event', 'disk', 'history']);
  });
});

/** Another reason each minute, and every 115 s the controller is killed and the wall clock jumps by an hour. */
function createTroubles(bed: FactsBed, rule: CompiledRule): (seconds: number) => readonly MachineFault[] {
  const start = bed.clock.now().getTime();
  let recorded = machine('n');
  return (seconds) => {
    if (seconds % 60 === 0) {
      const reason = seconds % 120 === 0 ? 'TaskHung' : 'OtherReason';
      // As the API server has it: our wall clock does not change it.
      const at = new Date(start + seconds * 1000).toISOString();
      bed.node({ FrequentTaskHung: { status: 'True', reason, lastTransitionTime: at } }, { heartbeat: at });
    }
    if (seconds % 115 === 110) {
      const jump = seconds % 2 === 0 ? 3600 : -3600;
      bed.clock.jumpWall((jump - bed.skewSeconds) * 1000);
      bed.skewSeconds = jump;
      bed.restart();
    }
    bed.machine({ status: recorded.status ?? {} });
    const reader = { compiled: rule, facts: bed.live().read('n', rule.maxAge) };
    const input = { machine: recorded, nodeUID: NODE_UID, rules: [reader], now: bed.live().now() };
    // As the remedy controller writes it.
    const faults = faultsOf(input);
    recorded = machine('n', { status: { faults } });
    return faults;
  };
}

describe('the duration of a fault', () => {
  it('R2 fires a rule of 30 minutes after 30 minutes, although reasons alternate each minute, the controller is killed 20 times and the wall clock jumps', async () => {
    const rule = ruleOf(hungFor(1800));
    const evaluate = createRuleEvaluator(rule);
    const bed = factsBed();
    const matched: number[] = [];
    const play = createTroubles(bed, rule);
    for (let seconds = 0; seconds <= 2400; seconds += 5) {
      play(seconds);
      // oxlint-disable no-await-in-loop -- time passes
      const { outcome } = await evaluate(bed.live().read('n', rule.maxAge));
      if (outcome === 'Match') matched.push(seconds);
      await bed.clock.advance(5000);
      // oxlint-enable no-await-in-loop
    }
    expect(matched[0]).toBeGreaterThanOrEqual(1800);
    expect(matched[0]).toBeLessThanOrEqual(1810);
    expect(matched).toHaveLength((2400 - (matched[0] ?? 0)) / 5 + 1);
    expect(play(2405)).toMatchObject([{ type: 'FrequentTaskHung', transitions: 1, since: ago(0) }]);
  });

  it('R2 starts again when the status really changes', async () => {
    const bed = full();
    await bed.clock.advance(10 * MINUTE);
    bed.node({ FrequentTaskHung: 'False' });
    bed.node({ FrequentTaskHung: 'True' });
    await bed.clock.advance(MINUTE);
    expect(bed.read('condition', HUNG)['observedSeconds']).toBe(60);
  });
});

describe('the time at which a rule is due', () => {
  it('R8 is when its threshold is reached, without any change', async () => {
    const bed = full();
    const rule = ruleOf(hungFor(180));
    const evaluate = createRuleEvaluator(rule);
    const dueInMs = bed.live().dueInMs('n', rule);
    expect(dueInMs).toBe(180_001);
    await bed.clock.advance(dueInMs - 2);
    expect(await evaluate(bed.live().read('n', rule.maxAge))).toMatchObject({ outcome: 'NoMatch' });
    await bed.clock.advance(2);
    expect(await evaluate(bed.live().read('n', rule.maxAge))).toMatchObject({ outcome: 'Match' });
  });

  it('R4 is when its facts become too old', async () => {
    const bed = full();
    const rule = ruleOf(hungFor(10));
    await bed.clock.advance(20_000);
    const dueInMs = bed.live().dueInMs('n', rule);
    expect(dueInMs).toBe(640_001);
    await bed.clock.advance(dueInMs);
    expect(bed.read('condition', HUNG)).toEqual({});
    expect(bed.live().dueInMs('n', rule)).toBe(Infinity);
  });

  it('R8 is when an Event leaves its window', async () => {
    const bed = full();
    bed.event('a', { reason: 'TaskHung', lastTimestamp: ago(500) });
    const count = { fact: 'event', params: TASKS, path: '$.count', operator: 'lessThan', value: 1 };
    const rule = ruleOf([count]);
    const dueInMs = bed.live().dueInMs('n', rule);
    expect(dueInMs).toBe(100_001);
    await bed.clock.advance(dueInMs);
    expect(bed.read('event', TASKS)).toEqual({ count: 0 });
  });
});
