/** Whole promotions as transcripts. `UPDATE_GOLDEN=1` rewrites test/golden/promote; the diff is reviewed like code. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkOf } from '../../rollout/builders.ts';
import {
  HOUR,
  MINUTE,
  PromotionSimulation,
  SECOND,
  type SimulationOptions,
} from './simulation/simulation.ts';

const FOLDER = join(import.meta.dirname, '../../golden/promote');
const STAGES = [
  { name: 'test', soakSeconds: 60, maxConcurrentClusters: '100%' as const },
  { name: 'pre', soakSeconds: 600, checks: [checkOf({ name: 'health' })] },
  { name: 'prod', soakSeconds: 3600, maxConcurrentClusters: 2, maxFailedClusters: 1 },
];
/** Tuesday is the first day of a simulation. */
const WORK = { name: 'work', days: ['Tue', 'Wed'] as const, start: '08:00', end: '12:00', timeZone: 'UTC' };
const WINDOW_STAGES = [
  { name: 'test', soakSeconds: 60, maxConcurrentClusters: '100%' as const },
  { name: 'prod', soakSeconds: 1800, windows: [WORK] },
];
const CLUSTERS = ['test-1', 'test-2', 'pre-1', 'prod-1', 'prod-2', 'prod-3'];

interface Story {
  readonly name: string;
  readonly sim?: SimulationOptions;
  readonly run: (sim: PromotionSimulation) => void;
}

const STORIES: readonly Story[] = [
  {
    name: 'three stages, all well',
    run: (sim) => {
      sim.push('c1', { '*': { app: 'v1' } });
      sim.run(3 * HOUR);
    },
  },
  {
    name: 'a bad commit halts, and its revert takes the fast lane',
    run: (sim) => {
      sim.push('c1', { '*': { app: 'v1' } });
      sim.run(3 * HOUR);
      sim.push('c2', { '*': { app: 'v2' }, prod: { app: 'bad2' } });
      sim.run(2 * HOUR);
      sim.push('c3', { '*': { app: 'v1' } });
      sim.run(10 * MINUTE);
    },
  },
  {
    name: 'a commit of documents, idle and during a soak',
    run: (sim) => {
      sim.push('c1', { '*': { app: 'v1' } });
      sim.run(3 * HOUR);
      sim.push('c2', { '*': { app: 'v1' } });
      sim.run(MINUTE);
      sim.push('c3', { '*': { app: 'v3' } });
      sim.run(5 * MINUTE);
      sim.push('c4', { '*': { app: 'v3' } });
      sim.run(3 * HOUR);
    },
  },
  {
    name: 'twenty commits in a burst',
    run: (sim) => {
      for (let index = 1; index <= 20; index++) {
        sim.push(`c${index}`, { '*': { app: `v${index}` } });
        sim.run(2 * SECOND);
      }
      sim.run(6 * HOUR);
    },
  },
  {
    name: 'one cluster away, one paused',
    sim: {
      stages: [
        {
          name: 'prod',
          soakSeconds: 600,
          maxConcurrentClusters: 2,
          unreachable: { graceSeconds: 1800, maxSkipped: 1 },
        },
      ],
      clusters: ['prod-1', 'prod-2', 'prod-3'],
    },
    run: (sim) => {
      sim.cluster('prod-1').reachable = false;
      sim.cluster('prod-3').paused = true;
      sim.push('c1', { '*': { app: 'v1' } });
      sim.run(HOUR);
      sim.cluster('prod-1').reachable = true;
      sim.cluster('prod-3').paused = false;
      sim.run(HOUR);
    },
  },
  {
    name: 'a window opens, closes in the middle of a stage, and lets a revert pass',
    sim: { stages: WINDOW_STAGES, clusters: ['test-1', 'prod-1', 'prod-2', 'prod-3'] },
    run: (sim) => {
      sim.push('c1', { '*': { app: 'v1' } });
      sim.run(2 * HOUR);
      // Nothing has started in prod: the newest proven commit is the one that enters.
      sim.push('c2', { '*': { app: 'v2' } });
      sim.run(8 * HOUR);
      sim.push('c3', { '*': { app: 'v3' } });
      sim.run(1.5 * HOUR);
      sim.push('c4', { '*': { app: 'v4' } });
      sim.run(1.5 * HOUR);
      sim.push('c5', { '*': { app: 'v3' } });
      sim.run(HOUR);
    },
  },
  {
    name: 'a freeze holds a revert, too',
    sim: {
      stages: [{ name: 'prod', soakSeconds: 60 }],
      clusters: ['prod-1', 'prod-2'],
      pipeline: {
        freezes: [
          { name: 'sale', from: '2030-01-01T01:00:00Z', until: '2030-01-01T03:00:00Z', reason: 'the sale' },
        ],
      },
    },
    run: (sim) => {
      sim.push('c1', { '*': { app: 'v1' } });
      sim.run(30 * MINUTE);
      sim.push('c2', { '*': { app: 'v2' } });
      sim.run(40 * MINUTE);
      sim.push('c3', { '*': { app: 'v1' } });
      sim.run(2 * HOUR);
    },
  },
  {
    name: 'an approval for what no earlier stage ran',
    sim: {
      stages: [
        { name: 'test', soakSeconds: 0 },
        { name: 'prod', soakSeconds: 600, approval: 'Unexercised' },
      ],
      clusters: ['test-1', 'prod-1'],
    },
    run: (sim) => {
      sim.push('c1', { '*': { app: 'v1' } });
      sim.run(HOUR);
      sim.push('c2', { test: { app: 'v1' }, prod: { app: 'v2' } });
      sim.run(HOUR);
      const planDigest = sim.release('c2').spec.plan.digest;
      const approvals = [{ stage: 'prod', planDigest, reason: 'reviewed' }];
      sim.pipeline = { ...sim.pipeline, spec: { ...sim.pipeline.spec, approvals } };
      sim.push('c3', { test: { app: 'v1' }, prod: { app: 'v2' } });
      sim.run(HOUR);
    },
  },
];

describe('a promotion', () => {
  it.each(STORIES)('matches the transcript: $name', ({ name, sim: options, run }) => {
    const sim = new PromotionSimulation(options ?? { stages: STAGES, clusters: CLUSTERS });
    run(sim);
    const text = `${sim.transcript.lines.join('\n')}\n`;
    const file = join(FOLDER, `${name.replaceAll(/[^a-z]+/g, '-')}.txt`);
    if (process.env['UPDATE_GOLDEN'] === '1') {
      mkdirSync(FOLDER, { recursive: true });
      writeFileSync(file, text);
    }
    expect(text).toBe(readFileSync(file, 'utf8'));
  });
});
