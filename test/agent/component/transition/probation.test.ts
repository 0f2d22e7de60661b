import { describe, expect, it } from 'vitest';
import type { ComponentInput, ProbationProgress } from '../../../../src/agent/component/input.ts';
import type { Transition } from '../../../../src/agent/journal/record.ts';
import { componentInput, explain, installed, V1, V2 } from '../../../support/agent/component-input.ts';

const FORWARD: Transition = {
  step: 'Probation',
  entry: V2.id,
  direction: 'Forward',
  from: V1.id,
  to: V2.id,
  bootId: 'boot-1',
  boots: 0,
};
const BACK: Transition = { ...FORWARD, direction: 'Back', failure: { code: 'ProbeFailed', message: '500' } };
const FAILURE = { code: 'ProbeFailed', message: 'probe web failed: 500' };

function probation(
  transition: Transition,
  progress?: ProbationProgress,
  fields: Partial<ComponentInput> = {},
): string {
  const observed = installed(V2);
  return explain(
    componentInput(
      { observed, ...fields, ...(progress && { probation: progress }) },
      { current: V1.id, state: 'Committed', transition },
    ),
  );
}

describe('AGT-20 watches a started version until its probes pass', () => {
  it.each<[string, Transition, ProbationProgress | undefined, string]>([
    ['waits for the first probe', FORWARD, undefined, 'wait ProbesPending: started: no probe has run yet'],
    [
      'waits for a slow start',
      FORWARD,
      { elapsedMs: 59_999, pending: ['web: refused'] },
      'wait ProbesPending: waits for probes: web: refused',
    ],
    [
      'goes back when a start is too slow',
      FORWARD,
      { elapsedMs: 60_000, pending: ['web: refused'] },
      'record Stopping Back to 1.1: not healthy after 60 s: web: refused',
    ],
    [
      'waits until probes passed long enough',
      FORWARD,
      { elapsedMs: 90_000, passingMs: 29_999, pending: [] },
      'wait ProbesPending: every probe passes: the version is kept after 30 s',
    ],
    [
      'commits when probes passed long enough',
      FORWARD,
      { elapsedMs: 90_000, passingMs: 30_000, pending: [] },
      'record Committed at 1.1: every probe passed long enough',
    ],
    [
      'goes back at a failure, even if probes passed long enough',
      FORWARD,
      { elapsedMs: 90_000, passingMs: 30_000, pending: [], failure: FAILURE },
      'record Stopping Back to 1.1: probe web failed: 500',
    ],
    [
      'needs one success after a rollback',
      BACK,
      { elapsedMs: 10, passingMs: 0, pending: [] },
      'record RolledBack at 1.0 denying 1.1: the previous version is healthy',
    ],
    [
      'gives up when the old version is not healthy either',
      BACK,
      { elapsedMs: 60_000, pending: ['web: refused'] },
      'record Failed at 1.0 denying 1.1: the previous version is not healthy either: not healthy after 60 s: web: refused',
    ],
  ])('%s', (_name, transition, progress, expected) => {
    expect(probation(transition, progress)).toBe(expected);
  });

  it('waits for the first success as long as probes must hold', () => {
    const slow = { ...V2, commitAfterSeconds: 300 };
    const targets = new Map([
      [V1.id, V1],
      [V2.id, slow],
    ]);
    expect(probation(FORWARD, { elapsedMs: 299_999, pending: ['web: refused'] }, { targets })).toContain(
      'wait ProbesPending',
    );
    expect(probation(FORWARD, { elapsedMs: 300_000, pending: ['web: refused'] }, { targets })).toContain(
      'record Stopping Back',
    );
  });
});
