import { describe, expect, it } from 'vitest';
import {
  JOB_PRESENTATION,
  JOBS_PRESENTATION,
} from '../../../../../src/cli/commands/remedy/watch/presentation.ts';
import { viewJob } from '../../../../../src/views/repair/job.ts';
import { type FrameLine, frameLines } from '../../../../../src/views/text/frame.ts';
import { NOW } from '../../../../support/builders.ts';
import { JOB_STORIES, jobStory } from '../stories.ts';

const SCREENS = [
  { columns: 80, rows: 24 },
  { columns: 40, rows: 8 },
  { columns: 20, rows: 3 },
];

function overflow(
  frame: readonly FrameLine[],
  screen: { readonly columns: number; readonly rows: number },
): number {
  const lines = frameLines(frame, 'the last state that was read', screen, false);
  return Math.max(lines.length - screen.rows + 1, ...lines.map(({ length }) => length - screen.columns));
}

describe('the live views of jobs', () => {
  it.each(JOB_STORIES)('never have more or longer lines than the terminal: %s', (story) => {
    const view = viewJob(jobStory(story));
    for (const screen of SCREENS) {
      expect(overflow(JOB_PRESENTATION.frame(view, NOW, screen), screen)).toBeLessThanOrEqual(0);
    }
  });

  it.each(JOB_STORIES)('cut nothing on 80 and 40 columns: %s', (story) => {
    const view = viewJob(jobStory(story));
    for (const screen of SCREENS.slice(0, 2)) {
      const frame = [
        ...JOB_PRESENTATION.frame(view, NOW, screen),
        ...JOBS_PRESENTATION.frame([view], NOW, screen),
      ];
      expect(frame.filter(({ text }) => text.length > screen.columns)).toEqual([]);
      expect(frame.map(({ text }) => text).join('\n')).toContain(view.phase);
    }
  });

  it('fit many jobs into the terminal', () => {
    const views = Array.from({ length: 500 }, (_, index) => viewJob(jobStory('a new job', `job-${index}`)));
    for (const screen of SCREENS) {
      expect(overflow(JOBS_PRESENTATION.frame(views, NOW, screen), screen)).toBeLessThanOrEqual(0);
    }
  });

  it('color the headline by the state of the job', () => {
    const tones = JOB_STORIES.map(
      (story) => JOB_PRESENTATION.frame(viewJob(jobStory(story)), NOW, SCREENS[0] as never)[0]?.tone,
    );
    expect(tones).toEqual(['busy', 'busy', 'busy', 'busy', 'good', 'bad']);
  });
});
