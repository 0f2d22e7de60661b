import { describe, expect, it } from 'vitest';
import { planUndo } from '../../../../../src/cli/commands/rollout/undo/plan.ts';
import { STORIES } from '../stories.ts';

const SET = STORIES['a spent failure budget'];
const HISTORY = [
  { revision: 'r-5d41402a', result: 'RolledBack' },
  { revision: 'r-00000003', result: 'Superseded' },
  { revision: 'r-00000002', result: 'Completed' },
  { revision: 'r-00000001', result: 'Completed' },
] as const;

function withHistory(history: readonly (typeof HISTORY)[number][]) {
  return { ...SET, status: { ...SET.status, conditions: [], history } };
}

describe('planUndo', () => {
  it('ROL-33 goes back to the newest revision that completed, and not to what failed or was given up', () => {
    expect(planUndo(withHistory(HISTORY))).toBe('r-00000002');
    expect(planUndo(withHistory(HISTORY), 'r-00000001')).toBe('r-00000001');
  });

  it('ROL-33 refuses a revision that did not complete, and names those that did', () => {
    expect(() => planUndo(withHistory(HISTORY), 'r-00000003')).toThrow(
      'no earlier revision r-00000003 that completed',
    );
  });

  it('ROL-33 never skips a revision because the last change was not observed yet', () => {
    const changed = { ...withHistory(HISTORY), metadata: { ...SET.metadata, generation: 3 } };
    expect(() => planUndo(changed)).toThrow('was not observed yet');
    expect(planUndo(changed, 'r-00000002')).toBe('r-00000002');
  });

  it('ROL-33 has nowhere to go back to without an earlier revision', () => {
    const { history: _, ...status } = SET.status ?? { conditions: [] };
    expect(() => planUndo({ ...SET, status })).toThrow('no earlier revision that completed');
    expect(() => planUndo(STORIES['its end'])).toThrow('no earlier revision that completed');
  });
});
