import type { HostFiles } from '../../host/port.ts';
import { DETECTOR_DIRECTORY, DETECTOR_REARM_FILE } from '../../layout.ts';
import { type StepContext, type StepExecutor, type StepRun, succeededStep, unitNamed } from './executor.ts';
import { observeRestart, restartOnce, serviceProcess } from './restart.ts';

const POLL_MS = 200;

/**
 * A unit of a problem detector is restarted: it evaluates all of its conditions again, also those that were not asked for. Without
 * one, the detector of the agent is asked by a file, which it removes when it has forgotten what was raised.
 */
export const rearmDetectorStep: StepExecutor<'RearmDetector'> = {
  async problem(context) {
    if ((await hasUnit(context)) || (await context.host.files.stat(DETECTOR_DIRECTORY))) return undefined;
    const { detector } = context.config;
    return {
      code: 'NoDetector',
      message: `the host has no problem detector: no unit ${detector}, and no folder ${DETECTOR_DIRECTORY}`,
    };
  },
  async before(context) {
    return (await hasUnit(context)) ? await serviceProcess(context, context.config.detector) : undefined;
  },
  async execute(context, _input, run) {
    if (await hasUnit(context)) return await restartOnce(context, context.config.detector, run.before);
    await rearmOwn(context, run);
    return succeededStep('the problem detector of the agent counts only what comes from now on');
  },
  async observe(context, { before }) {
    if (await hasUnit(context)) return await observeRestart(context, context.config.detector, before);
    return { happened: 'No', message: 'it can be repeated: nothing on the host is changed' };
  },
};

async function rearmOwn({ host, clock }: StepContext, { name, signal }: StepRun): Promise<void> {
  await requestRearm(host.files, name);
  while (!signal.aborted && (await host.files.stat(DETECTOR_REARM_FILE))) await clock.sleep(POLL_MS, signal);
}

async function requestRearm(files: HostFiles, name: string): Promise<void> {
  await files.write(DETECTOR_REARM_FILE, new TextEncoder().encode(name), {
    mode: '0600',
    owner: 'root:root',
  });
}

async function hasUnit({ host, config }: StepContext): Promise<boolean> {
  return (await host.units.status(unitNamed(config.detector))) !== undefined;
}
