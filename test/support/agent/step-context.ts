/** What an executor of a step gets from the agent. */
import { type JobsConfig, readJobsConfig } from '../../../src/agent/jobs/config.ts';
import type { StepContext, StepRun } from '../../../src/agent/jobs/steps/executor.ts';
import { EMPTY_JOURNAL } from '../../../src/agent/journal/progress.ts';

export async function stepContext(
  { host, clock }: Pick<StepContext, 'host' | 'clock'>,
  config: Partial<JobsConfig> = {},
): Promise<StepContext> {
  const found = await readJobsConfig(host.files);
  if (typeof found === 'string') throw new Error(found);
  return { host, clock, config: { ...found, ...config }, journal: EMPTY_JOURNAL };
}

export function stepRun(fields: Partial<StepRun> = {}): StepRun {
  return {
    name: 'job-1-s1-1',
    before: undefined,
    timeoutMs: 60_000,
    signal: new AbortController().signal,
    ...fields,
  };
}
