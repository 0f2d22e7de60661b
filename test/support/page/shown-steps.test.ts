import { describe, expect, it } from 'vitest';
import type { PageRecorder, ShownText } from './recorder.ts';
import { notShown } from './shown-steps.ts';

/** What the page of releases shows, by the time in ms. The others show nothing. */
function recorder(texts: Readonly<Record<number, string>>): PageRecorder {
  const shown: readonly ShownText[] = Object.entries(texts).map(([at, text]) => ({ atMs: Number(at), text }));
  return {
    shown: (name) => Promise.resolve(name === 'releases' ? shown : []),
    problems: () => [],
  };
}

const result = (name: string) => ({ name }) as Parameters<typeof notShown>[1][number]['result'];
const STEPS = [
  { result: result('unsigned-commit'), atMs: 20_000 },
  { result: result('push-hook'), atMs: 40_000 },
];
const ROW = 'Let grants linger kubenode tour 3s ago';
const pushHookOf = async (texts: Readonly<Record<number, string>>): Promise<readonly string[]> =>
  (await notShown(recorder(texts), STEPS)).filter((text) => text.startsWith('push-hook'));

describe('what a step has shown', () => {
  it('does not count what was on the page before the step began', async () => {
    expect(await pushHookOf({ 1000: ROW, 30_000: `${ROW} and more` })).toHaveLength(1);
  });

  it('counts one more row of the same subject, and a row that was not there', async () => {
    expect(await pushHookOf({ 1000: ROW, 30_000: `${ROW} ${ROW}` })).toEqual([]);
    expect(await pushHookOf({ 1000: '', 30_000: ROW })).toEqual([]);
  });

  it('does not count what is shown long after the step', async () => {
    expect(await pushHookOf({ 50_000: ROW })).toHaveLength(1);
  });
});
