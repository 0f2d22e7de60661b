import { type StepExecutor, succeededStep } from './executor.ts';

/** Usually the shutdown ends this process first. */
const POLL_MS = 1000;

export const rebootStep: StepExecutor<'Reboot'> = {
  async problem(_context, { via }) {
    if (via.includes('Agent')) return undefined;
    return { code: 'NotAllowed', message: `the agent is not among the ways to reboot: ${via.join(', ')}` };
  },
  before: ({ host }) => host.node.bootId(),
  async execute({ host, clock }, _input, { before, signal }) {
    // A second request could hit the next boot. One that failed, or that ended with this process, may still be carried out.
    if ((await host.node.bootId()) === before) await host.node.reboot().catch(() => undefined);
    while ((await host.node.bootId()) === before) await clock.sleep(POLL_MS, signal);
    return succeededStep('the boot id has changed');
  },
  async observe({ host }, { before }) {
    if ((await host.node.bootId()) !== before) return { happened: 'Yes', message: 'the boot id has changed' };
    // It may have been requested, and may still come.
    return {
      happened: 'Unknown',
      message: 'the boot id has not changed: whether a reboot will come is not known',
    };
  },
};
