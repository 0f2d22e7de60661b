import type { StepExecutor } from './executor.ts';
import { unitNamed } from './executor.ts';
import { observeRestart, restartOnce, serviceProcess } from './restart.ts';

/** A restart makes the detector evaluate all of its conditions again, also those that were not asked for. */
export const rearmDetectorStep: StepExecutor<'RearmDetector'> = {
  async problem({ host, config: { detector } }) {
    if (await host.units.status(unitNamed(detector))) return undefined;
    return { code: 'NoDetector', message: `the host has no problem detector: no unit ${detector}` };
  },
  before: (context) => serviceProcess(context, context.config.detector),
  execute: (context, _input, { before }) => restartOnce(context, context.config.detector, before),
  observe: (context, { before }) => observeRestart(context, context.config.detector, before),
};
