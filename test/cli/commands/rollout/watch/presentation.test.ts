import { describe, expect, it } from 'vitest';
import { ROLLOUT_PRESENTATION } from '../../../../../src/cli/commands/rollout/watch/presentation.ts';
import { viewRollout } from '../../../../../src/views/rollout/view.ts';
import { frameLines } from '../../../../../src/views/text/frame.ts';
import { NOW } from '../../../../support/builders.ts';
import { STORIES, type Story } from '../stories.ts';

describe('ROLLOUT_PRESENTATION', () => {
  it.each(Object.keys(STORIES) as Story[])(
    'never has more or longer lines than the terminal, and cuts nothing from 40 columns on: %s',
    (story) => {
      const view = viewRollout(STORIES[story], []);
      for (const [columns, rows] of [
        [80, 24],
        [40, 8],
        [20, 3],
      ] as const) {
        const frame = ROLLOUT_PRESENTATION.frame(view, NOW, { columns, rows });
        expect(frame.filter(({ text }) => columns >= 40 && text.length > columns)).toEqual([]);
        const lines = frameLines(frame, 'the last state that was read', { columns, rows }, false);
        expect(lines.length).toBeLessThan(rows);
        expect(lines.filter((line) => line.length > columns)).toEqual([]);
      }
    },
  );
});
