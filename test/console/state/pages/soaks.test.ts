import { expect, it } from 'vitest';
import { stageSoaks } from '../../../../src/console/state/pages/soaks.ts';
import type { CommitStageView, CommitView } from '../../../../src/views/release/commit-view.ts';

const NOW = Date.parse('2030-01-01T12:15:00Z');
const SOAKING = { name: 'prod', state: 'Soaking', soakUntil: '2030-01-01T13:00:00Z', proven: 0, total: 1 };

it.each<[what: string, stage: Partial<CommitStageView>, expected: number | undefined]>([
  ['a quarter of a soak', { since: '2030-01-01T12:00:00Z' }, 0.25],
  [
    'a soak that is over, and not judged yet',
    { since: '2030-01-01T10:00:00Z', soakUntil: '2030-01-01T11:00:00Z' },
    1,
  ],
  ['a soak without a start', {}, 0],
  ['a soak that begins later', { since: '2030-01-01T12:30:00Z' }, 0],
  ['no soak of another stage', { name: 'pre' }, undefined],
  ['no soak of a stage that is proven', { state: 'Proven' }, undefined],
])('shows %s', (_, fields, expected) => {
  const stage = { ...SOAKING, plan: '', because: '', ...fields };
  const view: CommitView = {
    name: 'fleet-c1',
    pipeline: 'fleet',
    commit: 'c1',
    phase: 'Promoting',
    stages: [stage],
  };
  const [soak] = stageSoaks({ c1: view }, { pipeline: 'fleet', stage: 'prod' }, NOW);
  expect(soak?.done).toBe(expected);
  expect(stageSoaks({ c1: view }, { pipeline: 'edge', stage: 'prod' }, NOW)).toEqual([]);
});
