import { describe, expect, it } from 'vitest';
import { viewJob } from '../../../src/views/repair/job.ts';
import { formatJobs, sortJobs } from '../../../src/views/repair/list.ts';
import { JOB_STORIES, jobStory } from '../../cli/commands/remedy/stories.ts';
import { ago, NOW } from '../../support/builders.ts';

const VIEWS = JOB_STORIES.map((story, index) => viewJob(jobStory(story, `job-${index}`)));

describe('formatJobs', () => {
  it('R29 lists those that need a person first, each with the reason that it waits for', () => {
    expect(formatJobs(VIEWS, NOW, { limit: 10, columns: 130 })).toMatchInlineSnapshot(`
      "6 jobs: 1 HandedOff, 1 Pending, 1 Succeeded, 3 Waiting

      JOB     MACHINE    RULE          RUNG     PHASE       AGE   WHY
      job-2   node-a17   kernel-hang   reboot   Waiting     4m    ApprovalRequired 60s: the drain timed out: continue?
      job-0   node-a17   kernel-hang   reboot   Pending     4m
      job-1   node-a17   kernel-hang   reboot   Waiting     4m    PodDisruptionBudget 100s: shop/cart-0: disruptionsAllowed=0
      job-3   node-a17   kernel-hang   reboot   Waiting     4m    GrantDenied 30s: BreakerOpen: unhealthy: 25 % of zone a
      job-5   node-a17   kernel-hang   reboot   HandedOff   4m    HandedOff: queue node-sre
      job-4   node-a17   kernel-hang   reboot   Succeeded   4m
      "
    `);
  });

  it('names how many it does not list', () => {
    const text = formatJobs(VIEWS, NOW, { limit: 2, columns: 130 });
    expect(text).toContain('and 4 more: --limit 6 lists all\n');
    expect(text).toContain('job-2');
    expect(text).not.toContain('job-4');
  });

  it('has a sentence for a cluster without jobs', () => {
    expect(formatJobs([], NOW, { limit: 10 })).toBe('no repair jobs\n');
  });

  it('lists the newest of those that ended first', () => {
    const newer = viewJob(jobStory('a node that stays sick', 'new'));
    const sorted = sortJobs([{ ...newer, job: 'old', created: ago(900) }, newer]);
    expect(sorted.map(({ job }) => job)).toEqual(['new', 'old']);
  });
});
