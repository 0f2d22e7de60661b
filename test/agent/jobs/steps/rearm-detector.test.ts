import { beforeEach, describe, expect, it } from 'vitest';
import { createMemoryHost, type MemoryHost } from '../../../../src/agent/host/memory/host.ts';
import type { StepContext } from '../../../../src/agent/jobs/steps/executor.ts';
import { rearmDetectorStep } from '../../../../src/agent/jobs/steps/rearm-detector.ts';
import { DETECTOR_DIRECTORY, DETECTOR_REARM_FILE } from '../../../../src/agent/layout.ts';
import { stepContext, stepRun } from '../../../support/agent/step-context.ts';
import { type VirtualClock, virtualClock } from '../../../support/virtual-clock.ts';

/** All conditions. */
const INPUT = {};
let clock: VirtualClock;
let host: MemoryHost;
let context: StepContext;

beforeEach(async () => {
  clock = virtualClock();
  host = createMemoryHost({ clock, artifacts: new Map() });
  context = await stepContext({ host, clock });
});

describe('the step RearmDetector', () => {
  it('is refused on a host without any problem detector', async () => {
    expect(await rearmDetectorStep.problem(context, INPUT)).toMatchObject({ code: 'NoDetector' });
    await host.files.makeDirectory(DETECTOR_DIRECTORY);
    expect(await rearmDetectorStep.problem(context, INPUT)).toBeUndefined();
  });

  it('AGT-73 asks the detector of the agent, and ends when that has forgotten what was raised', async () => {
    await host.files.makeDirectory(DETECTOR_DIRECTORY);
    expect(await rearmDetectorStep.before?.(context, INPUT)).toBeUndefined();
    let result: unknown;
    const executing = rearmDetectorStep
      .execute?.(context, INPUT, stepRun())
      .then((found) => (result = found));
    await clock.advance(5000);
    expect([result, await readRequest()]).toEqual([undefined, 'job-1-s1-1']);
    await host.files.remove(DETECTOR_REARM_FILE);
    await clock.advance(1000);
    await executing;
    expect(result).toMatchObject({ state: 'Succeeded' });
  });

  it('may be repeated after the agent ended in the middle', async () => {
    const progress = { before: undefined } as unknown as Parameters<typeof rearmDetectorStep.observe>[1];
    expect(await rearmDetectorStep.observe(context, progress)).toMatchObject({ happened: 'No' });
  });
});

async function readRequest(): Promise<string> {
  return new TextDecoder().decode(await host.files.read(DETECTOR_REARM_FILE));
}
