import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ClusterRollout } from '../../../../src/sync/promote/cluster/rollout.ts';
import { EXPLANATION_ORDER, ROLLOUT_STATES } from '../../../../src/sync/promote/cluster/rollout-state.ts';
import { runs } from '../../../support/sweep-size.ts';
import { runScenario } from '../model/run-scenario.ts';
import { scenario } from '../model/scenario.ts';

const COUNTS = {
  Proven: 'as proven',
  Required: 'not proven until it is',
  Failure: 'as a failure',
  Ignored: 'not at all',
};

/** The table of docs/concepts/sync.md. */
function markdownTable(): string {
  const rows = Object.entries(ROLLOUT_STATES).map(([state, row]) => {
    const reasons = row.reasons.map((reason) => `\`${reason}\``).join(', ');
    const allReasons = row.otherReasons ? `${reasons}; or ${row.otherReasons}` : reasons;
    const recordedAs = row.recordedAs ? `\`${row.recordedAs}\`` : 'as before';
    return `| ${state} | ${row.meaning} | ${row.endedBy} | ${COUNTS[row.counts]} | ${recordedAs} | ${allReasons} |`;
  });
  const head = '| state | meaning | ended by | counts in its stage | `status.sync.state` | reasons |';
  return [head, '|---|---|---|---|---|---|', ...rows].join('\n');
}

describe('the rollout states of a cluster', () => {
  it('are printed in docs/concepts/sync.md', () => {
    expect(readFileSync('docs/concepts/sync.md', 'utf8')).toContain(markdownTable());
  });

  it('all have a place in the order of explanations, except Proven', () => {
    const states = Object.keys(ROLLOUT_STATES).filter((state) => state !== 'Proven');
    expect(EXPLANATION_ORDER.toSorted()).toEqual(states.toSorted());
  });

  it('have no reasons but those of the table, whatever happens', () => {
    const unlisted = new Set<string>();
    const check = ({ state, reason }: ClusterRollout): void => {
      const { reasons, otherReasons } = ROLLOUT_STATES[state];
      if (!otherReasons && !reasons.includes(reason)) unlisted.add(`${state} ${reason}`);
    };
    fc.assert(
      fc.property(scenario, (each) => {
        runScenario(each, (sim) => {
          sim.quiet = true;
          const before = sim.onReconcile;
          sim.onReconcile = (plan) => {
            before(plan);
            for (const rollout of plan.stages.flatMap(({ rollouts }) => rollouts)) check(rollout);
          };
        });
        expect([...unlisted]).toEqual([]);
      }),
      runs(20, 1000),
    );
  });
});
