import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  applyRecord,
  EMPTY_JOURNAL,
  recordsOf,
  referencedTargets,
} from '../../../src/agent/journal/progress.ts';
import {
  DRIFT_KINDS,
  type JournalRecord,
  SETTLED_STATES,
  TRANSITION_STEPS,
} from '../../../src/agent/journal/record.ts';
import { stepProgress } from '../../support/agent/jobs.ts';
import { runs } from '../../support/sweep-size.ts';

const AT = '2030-01-01T12:00:00.000Z';
const id = fc.constantFrom('sha256:1', 'sha256:2', 'sha256:3', 'sha256:4', 'sha256:5', 'sha256:6');
const component = fc.constantFrom('a', 'b');
const failure = { code: 'UnitFailed', message: 'unit a failed' };

const step = fc.record(
  {
    type: fc.constant('Step' as const),
    component,
    at: fc.constant(AT),
    step: fc.constantFrom(...TRANSITION_STEPS),
    entry: id,
    direction: fc.constantFrom('Forward' as const, 'Back' as const),
    from: id,
    to: id,
    bootId: fc.constant('b'),
    boots: fc.nat(2),
    grant: fc.constant('g'),
    failure: fc.constant(failure),
    reinstall: fc.constant('job 1'),
  },
  { requiredKeys: ['type', 'component', 'at', 'step', 'entry', 'direction', 'bootId', 'boots'] },
);
const settled = fc.record(
  {
    type: fc.constant('Settled' as const),
    component,
    at: fc.constant(AT),
    state: fc.constantFrom(...SETTLED_STATES),
    current: id,
    history: fc.uniqueArray(id, { maxLength: 4 }),
    denied: id,
    failure: fc.constant(failure),
    reinstalled: fc.constant('job 1'),
  },
  { requiredKeys: ['type', 'component', 'at', 'state', 'history'] },
);
const retry = fc.record({
  type: fc.constant('Retry' as const),
  token: fc.constantFrom('x', 'y'),
  at: fc.constant(AT),
});
const correction = fc.record({
  type: fc.constant('Correction' as const),
  component,
  at: fc.constant(AT),
  subject: fc.constantFrom('/etc/a', 'unit'),
  kind: fc.constantFrom(...DRIFT_KINDS),
  total: fc.nat(50),
});
const process = fc.record({
  type: fc.constant('Process' as const),
  component,
  at: fc.constant(AT),
  unit: fc.constantFrom('a', 'b'),
  startId: fc.constantFrom('1', '2'),
  content: fc.constantFrom('Right' as const, 'Wrong' as const),
});
const job = fc
  .record({
    job: fc.constantFrom('a', 'b'),
    try: fc.integer({ min: 1, max: 2 }),
    state: fc.constantFrom('Begun', 'Succeeded', 'Refused'),
  })
  .map((fields) => ({ type: 'Job' as const, ...stepProgress(fields) }));
const steps = fc.oneof({ weight: 5, arbitrary: step }, { weight: 5, arbitrary: settled }, retry);
const records = fc.array(fc.oneof({ weight: 3, arbitrary: steps }, correction, process, job), {
  maxLength: 60,
});

function stateOf(list: readonly JournalRecord[]): ReturnType<typeof applyRecord> {
  return list.reduce(applyRecord, EMPTY_JOURNAL);
}

describe('the state of the journal', () => {
  it('is the same after compaction, whatever was recorded', () => {
    fc.assert(
      fc.property(records, (list) => {
        const state = stateOf(list);
        const compacted = stateOf(recordsOf(state));
        expect(compacted).toEqual(state);
        expect([...compacted.jobs.keys()]).toEqual([...state.jobs.keys()]);
      }),
      runs(300, 20_000),
    );
  });

  it('remembers the last four denied entries, until a person asks to try again', () => {
    const denied = ['1', '2', '3', '4', '5', '3'].map(
      (denial): JournalRecord => ({
        type: 'Settled',
        component: 'a',
        at: AT,
        state: 'RolledBack',
        history: [],
        denied: denial,
      }),
    );
    expect(stateOf(denied).components.get('a')?.denied).toEqual(['2', '4', '5', '3']);
    const after = stateOf([...denied, { type: 'Retry', token: 'again', at: AT }]);
    expect(after.components.get('a')?.denied).toEqual([]);
    expect(after.retryToken).toBe('again');
  });

  it('forgets the denied entries of one component only, when its set asks to try again', () => {
    const denial = { type: 'Settled', at: AT, state: 'RolledBack', history: [], denied: '1' } as const;
    const denials = ['a', 'b'].map((name): JournalRecord => ({ ...denial, component: name }));
    const after = stateOf([...denials, { type: 'Retry', component: 'a', token: 'again', at: AT }]);
    expect([...after.components.values()].map(({ denied }) => denied)).toEqual([[], ['1']]);
    expect(stateOf(recordsOf(after))).toEqual(after);
  });

  it('refers to every target that a transition or a rollback may need', () => {
    const state = stateOf([
      { type: 'Settled', component: 'a', at: AT, state: 'Committed', current: '2', history: ['1'] },
      {
        type: 'Step',
        component: 'a',
        at: AT,
        step: 'Swapped',
        entry: '3',
        direction: 'Forward',
        from: '2',
        to: '3',
        bootId: 'b',
        boots: 0,
      },
    ]);
    expect([...referencedTargets(state)].toSorted()).toEqual(['1', '2', '3']);
  });
});
