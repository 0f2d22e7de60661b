/** Whole rollouts as transcripts. `UPDATE_GOLDEN=1` rewrites test/golden/rollout; the diff is reviewed like code. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { planRollout } from '../../../src/controllers/componentset/plan.ts';
import { NOW } from '../../support/builders.ts';
import { stride } from '../../support/sweep-size.ts';
import {
  BATCH,
  COMPLETED,
  inputOf,
  member,
  NEW,
  observedInput,
  progressOf,
} from './rollout/rollout-input.ts';
import { CANARY_LABELS, CANARY_STORIES } from './simulation/canary-stories.ts';
import { REVERT_STORIES } from './simulation/revert-stories.ts';
import { RolloutSimulation, type SimulationParts } from './simulation/rollout-simulation.ts';
import { STORIES as BASIC_STORIES, type RolloutStory } from './simulation/stories.ts';

const FOLDER = join(import.meta.dirname, '../../golden/rollout');
const STORIES = [...BASIC_STORIES, ...CANARY_STORIES, ...REVERT_STORIES];
const UPDATE = process.env['UPDATE_GOLDEN'] === '1';

function played({ sim: parts, play }: RolloutStory, more: Partial<SimulationParts> = {}): RolloutSimulation {
  const sim = new RolloutSimulation({ ...parts, ...more });
  play(sim);
  return sim;
}

const CRASHED: readonly string[] = ['the second batch fails and all machines roll back'];

/** Seconds of each machine that depend on nothing but the seed and its name. */
function speeds(seed: number): NonNullable<SimulationParts['secondsOf']> {
  const seconds = fc.integer({ min: 1, max: 90 });
  const one = fc.record({ activate: seconds, prove: seconds });
  return (machine) => {
    const [found] = fc.sample(one, { seed: seed * 1000 + Number(machine.slice(2)), numRuns: 1 });
    return found ?? { activate: 20, prove: 30 };
  };
}

/** How often the machine that was touched most activated the version. */
function mostActivations(sim: RolloutSimulation, componentRef: string): number {
  return Math.max(
    0,
    ...[...sim.machines.values()].map(({ activations }) => activations.get(componentRef) ?? 0),
  );
}

/** Machines outside of the canary that a version was given before its first batch. */
function touchedBeforeBatch1({ lines, machines }: RolloutSimulation): readonly string[] {
  let isOpen = false;
  return lines.filter((line) => {
    if (line.includes(' git: ')) isOpen = false;
    if (line.includes(' batch 1: ')) isOpen = true;
    const started = /^\S+ (?<name>m-\d+) -> /.exec(line)?.groups?.['name'];
    return started !== undefined && !isOpen && machines.get(started)?.labels !== CANARY_LABELS;
  });
}

describe('a rollout', () => {
  it.each(STORIES)('ROL-01 matches the transcript of the whole rollout: $name', (story) => {
    const sim = played(story);
    const text = `${sim.lines.join('\n')}\n`;
    const path = join(FOLDER, `${story.name.replaceAll(/[^a-z0-9]+/gi, '-')}.txt`);
    if (UPDATE) {
      mkdirSync(FOLDER, { recursive: true });
      writeFileSync(path, text);
    }
    expect(text).toBe(readFileSync(path, 'utf8'));
    expect(sim.summary()).toBe(story.end);
  });

  it.each(STORIES.filter(({ dependsOnSpeed }) => !dependsOnSpeed))(
    'ROL-01 ends the same with machines of random speed: $name',
    (story) => {
      expect(played(story, { secondsOf: speeds(1) }).summary()).toBe(story.end);
    },
  );

  it.each(CANARY_STORIES)(
    'ROL-02 touches no other machine before the canary is at its end: $name',
    (story) => {
      const sim = played(story);
      expect(touchedBeforeBatch1(sim)).toEqual([]);
      const others = [...sim.machines.values()].filter(({ labels }) => labels !== CANARY_LABELS);
      const touched = others.filter(({ activations }) => activations.size > 0);
      expect(touched.length > 0).toBe(!story.end.startsWith('8 run app-1'));
    },
  );

  it.each(STORIES.filter(({ name }) => CRASHED.includes(name)))(
    'ROL-10 ends the same after a crash before or after each write: $name',
    (story) => {
      const { writes } = played(story);
      const { first, step } = stride(3);
      for (let at = first; at <= writes; at += step) {
        for (const when of ['Before', 'After'] as const) {
          const sim = played(story, { crash: { at, when } });
          expect(`${at} ${when}: ${sim.summary()}`).toBe(`${at} ${when}: ${story.end}`);
          expect(mostActivations(sim, 'app-2')).toBeLessThanOrEqual(1);
        }
      }
    },
  );
});

describe('planRollout', () => {
  it('ROL-30 does not resume a rollout that stopped, before a person pauses and resumes it', () => {
    const failure = { maxFailed: 0, per: 'Rollout', onFailure: 'Pause' } as const;
    const members = [member('a', { at: NEW, batch: 1 }), member('b')];
    const stopped = { reason: 'FailureBudgetSpent', because: 'machines failed: 1, allowed: 0' };
    const plan = (progress: object): string => {
      const input = observedInput({ members, progress: progressOf(progress), rollout: { failure } });
      const { limit, actions } = planRollout(input);
      return `${limit.reason}: ${actions.map((action) => action.type).join()}`;
    };
    expect(plan({ stopped })).toBe('FailureBudgetSpent: ');
    expect(plan({ stopped, pausedAt: NOW })).toBe('BatchFull: Persist,Assign');
  });

  it('ROL-11 shares availability between new machines and the batch', () => {
    const members = [member('a', { at: 'None', serves: true }), member('b'), member('c')];
    const progress = progressOf({ batch: { ...BATCH, size: 2 } });
    const assigned = (maxUnavailable: number): string =>
      planRollout(inputOf({ members, progress, rollout: { maxUnavailable } }))
        .actions.flatMap((action) => (action.type === 'Assign' ? [action.member.name] : []))
        .toSorted()
        .join(' ');
    expect(assigned(1)).toBe('a');
    expect(assigned(3)).toBe('a b c');
  });

  it('ROL-32 never starts a machine when the revision to return to was not read', () => {
    const history = [{ revision: NEW.name, result: 'RolledBack' }, COMPLETED] as const;
    const { stable: _stable, ...input } = observedInput({
      members: [member('a')],
      progress: progressOf({ history }),
    });
    expect(planRollout(input)).toMatchObject({ actions: [], limit: { reason: 'RollbackImpossible' } });
  });
});
