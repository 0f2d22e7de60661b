/** Whole promotions, as people would follow them. `UPDATE_GOLDEN=1` rewrites test/golden/promote; its diff is reviewed like code. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkOf, HOUR, MINUTE, SECOND, SmallWorld, type WorldOptions } from './small-world.ts';

const FOLDER = join(import.meta.dirname, '../../golden/promote');
const STAGES = [
  { name: 'test', soakSeconds: 60, maxConcurrentClusters: '100%' as const },
  { name: 'pre', soakSeconds: 600, checks: [checkOf({ name: 'health' })] },
  { name: 'prod', soakSeconds: 3600, maxConcurrentClusters: 2, maxFailedClusters: 1 },
];
const CLUSTERS = ['test-1', 'test-2', 'pre-1', 'prod-1', 'prod-2', 'prod-3'];

interface Story {
  readonly name: string;
  readonly world?: WorldOptions;
  readonly tell: (world: SmallWorld) => void;
}

const STORIES: readonly Story[] = [
  {
    name: 'three stages, all well',
    tell: (world) => {
      world.push('c1', { '*': { app: 'v1' } });
      world.run(3 * HOUR);
    },
  },
  {
    name: 'a bad commit halts, and its revert takes the fast lane',
    tell: (world) => {
      world.push('c1', { '*': { app: 'v1' } });
      world.run(3 * HOUR);
      world.push('c2', { '*': { app: 'v2' }, prod: { app: 'bad2' } });
      world.run(2 * HOUR);
      world.push('c3', { '*': { app: 'v1' } });
      world.run(10 * MINUTE);
    },
  },
  {
    name: 'a commit of documents, idle and during a soak',
    tell: (world) => {
      world.push('c1', { '*': { app: 'v1' } });
      world.run(3 * HOUR);
      world.push('c2', { '*': { app: 'v1' } });
      world.run(MINUTE);
      world.push('c3', { '*': { app: 'v3' } });
      world.run(5 * MINUTE);
      world.push('c4', { '*': { app: 'v3' } });
      world.run(3 * HOUR);
    },
  },
  {
    name: 'twenty commits in a burst',
    tell: (world) => {
      for (let index = 1; index <= 20; index++) {
        world.push(`c${index}`, { '*': { app: `v${index}` } });
        world.run(2 * SECOND);
      }
      world.run(6 * HOUR);
    },
  },
  {
    name: 'one cluster away, one paused',
    world: {
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
    tell: (world) => {
      world.cluster('prod-1').reachable = false;
      world.cluster('prod-3').paused = true;
      world.push('c1', { '*': { app: 'v1' } });
      world.run(HOUR);
      world.cluster('prod-1').reachable = true;
      world.cluster('prod-3').paused = false;
      world.run(HOUR);
    },
  },
  {
    name: 'an approval for what no earlier stage ran',
    world: {
      stages: [
        { name: 'test', soakSeconds: 0 },
        { name: 'prod', soakSeconds: 600, approval: 'Unexercised' },
      ],
      clusters: ['test-1', 'prod-1'],
    },
    tell: (world) => {
      world.push('c1', { '*': { app: 'v1' } });
      world.run(HOUR);
      world.push('c2', { test: { app: 'v1' }, prod: { app: 'v2' } });
      world.run(HOUR);
      const planDigest = world.release('c2').spec.plan.digest;
      const approvals = [{ stage: 'prod', planDigest, reason: 'looked at it' }];
      world.pipeline = { ...world.pipeline, spec: { ...world.pipeline.spec, approvals } };
      world.push('c3', { test: { app: 'v1' }, prod: { app: 'v2' } });
      world.run(HOUR);
    },
  },
];

describe('transcripts of promotion', () => {
  it.each(STORIES)('$name', ({ name, world: options, tell }) => {
    const world = new SmallWorld(options ?? { stages: STAGES, clusters: CLUSTERS });
    tell(world);
    const text = `${world.journal.lines.join('\n')}\n`;
    const file = join(FOLDER, `${name.replaceAll(/[^a-z]+/g, '-')}.txt`);
    if (process.env['UPDATE_GOLDEN'] === '1') {
      mkdirSync(FOLDER, { recursive: true });
      writeFileSync(file, text);
    }
    expect(text).toBe(readFileSync(file, 'utf8'));
  });
});
