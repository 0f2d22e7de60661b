/** How the live views of repair jobs are shown. Pure. */

import type { JobState, JobView } from '../../../../views/repair/job.ts';
import { formatJobs, sortJobs } from '../../../../views/repair/list.ts';
import { formatJob } from '../../../../views/repair/show.ts';
import { type FrameLine, plainLines, type Tone } from '../../../../views/text/frame.ts';
import type { Presentation } from '../../../live/display.ts';
import { jobChangeLines, jobsChangeLines } from './changes.ts';

export const JOB_PRESENTATION: Presentation<JobView> = {
  label: ({ job }) => job,
  changes: jobChangeLines,
  frame: (view, now, { columns }) => withTone(plainLines(formatJob(view, now, columns)), TONES[view.state]),
};

/** Besides the rows of the jobs: the counts and the titles. */
const HEAD_ROWS = 4;

export const JOBS_PRESENTATION: Presentation<readonly JobView[]> = {
  label: () => 'repair jobs',
  changes: jobsChangeLines,
  frame: (views, now, { columns, rows }) =>
    plainLines(formatJobs(views, now, { columns, limit: Math.max(1, rows - HEAD_ROWS) })),
  compared: (views) => sortJobs(views),
};

const TONES: Readonly<Record<JobState, Tone>> = {
  NeedsPerson: 'busy',
  Running: 'busy',
  Succeeded: 'good',
  Ended: 'quiet',
  Failed: 'bad',
};

/** The headline has the tone of the state. */
function withTone([head, ...lines]: readonly FrameLine[], tone: Tone): readonly FrameLine[] {
  return head ? [{ ...head, tone }, ...lines] : lines;
}
